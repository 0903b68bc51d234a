package org.apache.bookkeeper.bookie;

import fencepost.Refused;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.bookie.Journal.QueueEntry;
import org.apache.bookkeeper.common.collections.BatchedArrayBlockingQueue;
import org.apache.bookkeeper.util.collections.ConcurrentLongHashMap;

/**
 * A request that a bookie handles in a thread of its own, which waits in the midst of it, beside others that go on. It is made with
 * another request for the same ledger: neither finds a descriptor, so each makes one (HandleFactoryImpl.getHandle).
 */
public final class Apart extends Thread {
    /** Before it has the descriptor that it made. */
    private static final String DESCRIPTOR = "make a descriptor";
    /** After it has found whether the ledger is fenced. */
    public static final String CHECKED = "go on after the fence is checked";
    /** Before a record of it is logged. */
    public static final String LOG = "log a record";
    /** How long a request may take that another one should not hold up. */
    public static final int SECONDS = 2;

    /** What a request does. */
    public interface Work {
        void run() throws Exception;
    }

    private final Gate gate = new Gate();
    private final Set<String> places;
    private final Work work;

    private Apart(Set<String> places, Work work) {
        super("apart");
        setDaemon(true);
        this.places = places;
        this.work = work;
    }

    @Override
    public void run() {
        try {
            work.run();
        } catch (Gate.Gone e) {
            // with its process
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    /** Whoever comes here goes on, except for a request that is to wait. */
    static void passes(String where) {
        if (Thread.currentThread() instanceof Apart) {
            Apart self = (Apart) Thread.currentThread();
            if (self.places.contains(where)) {
                self.gate.pass(where);
            }
        }
    }

    /** From now on requests can wait in this bookie, which has not started yet. */
    public static void watch(BookieImpl bookie) throws ReflectiveOperationException {
        Object handles = field(BookieImpl.class, "handles").get(bookie);
        Field storage = field(handles.getClass(), "ledgerStorage");
        Object real = storage.get(handles);
        storage.set(handles, Proxy.newProxyInstance(LedgerStorage.class.getClassLoader(), new Class<?>[] {LedgerStorage.class},
                (self, method, arguments) -> {
                    try {
                        if (method.getName().equals("setMasterKey")) {
                            passes(DESCRIPTOR);
                        }
                        Object result = method.invoke(real, arguments);
                        if (method.getName().equals("isFenced")) {
                            passes(CHECKED);
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    /** A queue of a journal before which requests can wait. */
    static final class Queue extends BatchedArrayBlockingQueue<QueueEntry> {
        Queue(int capacity) {
            super(capacity);
        }

        @Override
        public void put(QueueEntry entry) throws InterruptedException {
            passes(LOG);
            super.put(entry);
        }
    }

    /** Requests wait also before this bookie's journals; it has not started yet. */
    public static void watchJournals(BookieImpl bookie) throws ReflectiveOperationException {
        for (Journal journal : bookie.journals) {
            field(Journal.class, "queue").set(journal, new Queue(bookie.conf.getJournalQueueSize()));
        }
    }

    private static Field field(Class<?> of, String name) throws NoSuchFieldException {
        Field found = of.getDeclaredField(name);
        found.setAccessible(true);
        return found;
    }

    /** A request begins, and another one for the ledger beside it; it waits at a place. Refused if there is a descriptor. */
    public static Apart begin(BookieImpl bookie, long ledger, byte[] key, String place, Work work) throws Exception {
        HandleFactory handles = (HandleFactory) field(BookieImpl.class, "handles").get(bookie);
        if (((ConcurrentLongHashMap<?>) field(handles.getClass(), "ledgers").get(handles)).containsKey(ledger)) {
            throw new Refused("the bookie has a descriptor of the ledger");
        }
        Apart apart = new Apart(Set.of(DESCRIPTOR, place), work);
        apart.start();
        apart.gate.arrives(DESCRIPTOR, apart);
        handles.getHandle(ledger, key, false);
        apart.goesOn(DESCRIPTOR, place);
        return apart;
    }

    /** It goes on from a place to another one. */
    public void goesOn(String from, String to) throws InterruptedException {
        gate.let(from);
        gate.arrives(to, this);
    }

    /** It goes on from a place to its end. */
    public void ends(String from) throws InterruptedException, IOException {
        gate.let(from);
        join(TimeUnit.SECONDS.toMillis(Gate.SECONDS));
        if (isAlive()) {
            throw new IOException("the request does not end");
        }
    }

    /** Another request is handled while this one waits; refused if it does not end. */
    public void besides(String request, Work other) throws Exception {
        Apart second = new Apart(Set.of(), other);
        second.start();
        second.join(TimeUnit.SECONDS.toMillis(SECONDS));
        if (second.isAlive()) {
            throw new Refused(request + " waits for another one that is under way");
        }
    }

    /** The process is gone. */
    public void abandon() {
        gate.abandon();
    }
}
