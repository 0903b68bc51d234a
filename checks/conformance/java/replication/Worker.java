package org.apache.bookkeeper.client;

import fencepost.Gate;
import fencepost.Server;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.meta.ZkLedgerUnderreplicationManager;
import org.apache.bookkeeper.replication.HeldWorker;
import org.apache.bookkeeper.replication.ReplicationException;
import org.apache.bookkeeper.zookeeper.ZooKeeperClient;
import org.apache.zookeeper.ZooKeeper;

/** A worker of auto-recovery, with a session, an under-replication manager, a client and a thread of its own. */
final class Worker extends Member {
    private static final Set<Thread.State> BLOCKED = Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

    final Gate gate = new Gate();
    final ZooKeeperClient session;
    HeldWorker worker;
    private final LedgerUnderreplicationManager tasks;
    private final long began;
    private final long ledger;
    private volatile Thread thread;
    /** Whether a bookie has been chosen since the last check. */
    boolean chosen;

    static Worker start(String name, LedgerBench bench, ServerConfiguration conf, String connection) throws Exception {
        ZooKeeperClient session = ZooKeeperClient.newBuilder().connectString(connection)
                .sessionTimeoutMs(Server.SESSION_MILLIS).build();
        Worker made = new Worker(new RecoveringClient(name, bench), bench, session, new ZkLedgerUnderreplicationManager(conf, session));
        made.worker = new HeldWorker(conf, made.client, made.gate);
        made.worker.start();
        return made;
    }

    private Worker(RecoveringClient client, LedgerBench bench, ZooKeeperClient session, LedgerUnderreplicationManager tasks) {
        super(client, bench);
        this.session = session;
        this.tasks = tasks;
        began = session.getSessionId();
        ledger = bench.ledger;
        client.connect(held(tasks), old -> (String) gate.pass("choose"));
    }

    /** The manager, whose tasks are taken and ended when a step says so. */
    private LedgerUnderreplicationManager held(LedgerUnderreplicationManager real) {
        return (LedgerUnderreplicationManager) Proxy.newProxyInstance(Worker.class.getClassLoader(),
                new Class<?>[] {LedgerUnderreplicationManager.class}, (proxy, method, arguments) -> {
                    try {
                        if (method.getName().equals("getLedgerToRereplicate")) {
                            thread = Thread.currentThread();
                            gate.pass("take");
                        } else if (method.getName().equals("markLedgerReplicated")) {
                            gate.pass("mark");
                        }
                        return method.invoke(real, arguments);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new ReplicationException.UnavailableException("interrupted", e);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /**
     * What it waits for: a gate, the store, the answers of a check, the copies of entries, or, before it chooses, the entries that it
     * could not read the last time; empty while it goes on.
     */
    @Override
    String waitsFor() {
        String at = gate.at();
        if (at != null) {
            return at.equals("choose") ? "choose " + client.replaced : at;
        }
        boolean blocked = thread != null && BLOCKED.contains(thread.getState());
        if (blocked && operation() != null) {
            return operation().kind.equals("write") ? "publish" : operation().kind;
        }
        if (!blocked || requests().isEmpty()) {
            return "";
        }
        boolean checks = requests().get(0).callback.getClass().getName().startsWith(LedgerChecker.class.getName());
        return checks ? "answers" : chosen ? "copy" : "reread";
    }

    @Override
    String place() {
        return thread == null ? "no line" : thread.getState() + " " + List.of(thread.getStackTrace());
    }

    /** The session expires, and the client has another. */
    void expire(Server server) throws Exception {
        long before = session.getSessionId();
        server.expire(before);
        Server.until("new session", () -> session.getSessionId() != before && session.getState() == ZooKeeper.States.CONNECTED);
    }

    @Override
    void choose(String bookie) {
        chosen = !bookie.equals("nobody");
        gate.open(bookie);
    }

    @Override
    boolean isZombie(Server server) {
        return !server.has(began);
    }

    /** As ZkLedgerUnderreplicationManager.markLedgerReplicated takes it from the locks that it has for held. */
    @Override
    int taskVersion() throws Exception {
        Field locks = ZkLedgerUnderreplicationManager.class.getDeclaredField("heldLocks");
        locks.setAccessible(true);
        Object lock = ((Map<?, ?>) locks.get(tasks)).get(ledger);
        if (lock == null) {
            return 0;
        }
        Method version = lock.getClass().getDeclaredMethod("getLedgerZNodeVersion");
        version.setAccessible(true);
        return (Integer) ((Optional<?>) version.invoke(lock)).get();
    }

    @Override
    void close() throws Exception {
        worker.shutdown();
        session.close();
    }
}
