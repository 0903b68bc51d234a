package org.apache.pulsar.metadata.coordination.impl;

import fencepost.Server;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.MetadataStoreException;
import org.apache.pulsar.metadata.api.Notification;
import org.apache.pulsar.metadata.api.NotificationType;
import org.apache.pulsar.metadata.api.extended.SessionEvent;
import org.apache.pulsar.metadata.impl.ZKMetadataStore;
import org.apache.pulsar.metadata.impl.ZKSessionWatcher;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;
import org.apache.pulsar.metadata.impl.batching.OpDelete;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/**
 * A broker's metadata store that holds what concerns certain paths: requests before they are sent, notifications from the first
 * on that its concern takes for news, and session events.
 *
 * <p>Requests are not batched, so that each one comes on the thread of who asks: whose it is shows in its stack.
 */
final class HeldStore extends ZKMetadataStore {
    static final int SECONDS = 20;
    private static final int PAUSE_MILLIS = 100;
    /** The fields that were asked for: to look one up takes longer than to read it. */
    private static final ClassValue<Map<String, Field>> FIELDS = new ClassValue<>() {
        @Override
        protected Map<String, Field> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    /** Which paths are held, and what a request for one is called. */
    interface Concern {
        boolean with(String path);

        /** What a request is called; null if it is not held after all. */
        String kind(MetadataOp op);

        /** Whether that is held back, and what comes after it of the same path. */
        default boolean isNews(Notification notification) {
            return notification.getType() == NotificationType.Deleted;
        }
    }

    /** A request that is held. */
    record Held(String kind, MetadataOp op) {
        String path() {
            return op.getPath();
        }
    }

    // the constructor of the superclass already calls what is overridden here: then these are null
    private final Concern concern;
    private final List<Held> requests = new ArrayList<>();
    private final List<Notification> news = new ArrayList<>();
    private final List<SessionEvent> events = new ArrayList<>();
    /** What was sent, by name: a request whose answer is lost comes again, on a thread that does not show whose it is. */
    private final Map<MetadataOp, String> sent = new IdentityHashMap<>();
    private final List<Probe> threads = new ArrayList<>();
    /** The client's connection when {@link #heard} was last asked, and how many frames had come over it. */
    private Object socket;
    private long frames;
    /** What the broker has last been told of its session; nothing at first. */
    private SessionEvent told;
    private boolean deaf;

    HeldStore(String address, Concern concern) throws Exception {
        super(address, MetadataStoreConfig.builder().sessionTimeoutMillis(Server.SESSION_MILLIS).batchingEnabled(false).build(),
                true);
        this.concern = concern;
        for (ExecutorService each : executors()) {
            threads.add(Probe.of(each));
        }
    }

    @Override
    protected void batchOperation(List<MetadataOp> operations) {
        for (MetadataOp op : operations) {
            String kind = concern != null && concern.with(op.getPath()) ? named(op) : null;
            if (kind == null) {
                super.batchOperation(List.of(op));
                continue;
            }
            synchronized (requests) {
                requests.add(new Held(kind, op));
            }
        }
    }

    private String named(MetadataOp op) {
        synchronized (requests) {
            String again = sent.get(op);
            return again == null ? concern.kind(op) : again;
        }
    }

    /** Whether a method whose name has these words, of a class of that name, is on the stack. */
    static boolean calledFrom(String type, String method) {
        return StackWalker.getInstance().walk(frames -> frames.anyMatch(
                frame -> frame.getClassName().endsWith("." + type) && frame.getMethodName().contains(method)));
    }

    @Override
    protected CompletableFuture<Void> receivedNotification(Notification notification) {
        String path = notification.getPath();
        if (concern == null || !concern.with(path)) {
            return super.receivedNotification(notification);
        }
        synchronized (requests) {
            if (deaf) {
                return CompletableFuture.completedFuture(null);
            }
            if (hasNews(path) || concern.isNews(notification)) {
                news.add(notification);
                return CompletableFuture.completedFuture(null);
            }
        }
        return super.receivedNotification(notification);
    }

    @Override
    protected void receivedSessionEvent(SessionEvent event) {
        if (concern == null) {
            super.receivedSessionEvent(event);
            return;
        }
        synchronized (requests) {
            events.add(event);
        }
    }

    /** The requests that are held, the oldest first. */
    List<Held> requests() {
        synchronized (requests) {
            return List.copyOf(requests);
        }
    }

    /** From now on the broker hears of no change, as one that is cut off, or hears of them again. */
    void deafen(boolean now) {
        synchronized (requests) {
            deaf = now;
        }
    }

    boolean hasNews(String path) {
        synchronized (requests) {
            return news.stream().anyMatch(each -> each.getPath().equals(path));
        }
    }

    /** How many notifications of a path are held back. */
    long news(String path) {
        synchronized (requests) {
            return news.stream().filter(each -> each.getPath().equals(path)).count();
        }
    }

    /** The broker never hears of the latest that was held back of a path. */
    void dropLatestNews(String path) {
        synchronized (requests) {
            for (int i = news.size() - 1; i >= 0; i--) {
                if (news.get(i).getPath().equals(path)) {
                    news.remove(i);
                    return;
                }
            }
        }
    }

    /** What the broker has not heard of by now it will never hear of. */
    void dropNews() {
        synchronized (requests) {
            news.clear();
        }
    }

    /** Sends a request that was held, and waits for its answer, whatever that is. */
    void send(Held held) throws Exception {
        remove(held);
        super.batchOperation(List.of(held.op()));
        try {
            held.op().getFuture().get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            // it is the broker's matter
        }
    }

    /** Sends a request that was held over a link that holds answers back, cuts that when it has taken effect, and waits. */
    void sendUnheard(Held held, Wire link, Callable<Boolean> effect) throws Exception {
        remove(held);
        synchronized (requests) {
            sent.put(held.op(), held.kind());
        }
        link.silence();
        super.batchOperation(List.of(held.op()));
        Server.until("effect of a request", effect);
        cut(link);
        Server.until("request that is sent again", () -> requests().stream().anyMatch(each -> each.op() == held.op()));
    }

    /**
     * Sends a request that was held in a batch of which another operation fails: the store then carries it out alone. The link is cut
     * when it has taken effect, or before it is sent where {@code effect} is null, and it is not sent again.
     */
    void sendAloneUnheard(Held held, Wire link, Callable<Boolean> effect) throws Exception {
        remove(held);
        MetadataOp failing = deletionOf("/nowhere");
        failing.getFuture().whenComplete((none, error) -> {
            if (effect == null) {
                link.deafen();
            } else {
                link.silence();
            }
        });
        super.batchOperation(List.of(failing, held.op()));
        Server.until("fate of a request", effect == null ? link::hasMissed : effect);
        cut(link);
        Server.until("answer to a request", () -> held.op().getFuture().isDone());
    }

    /** Since 5.0 an operation has options, too. */
    private static MetadataOp deletionOf(String path) throws Exception {
        var constructor = OpDelete.class.getConstructors()[0];
        Object[] arguments = {path, Optional.empty(), Set.of()};
        return (MetadataOp) constructor.newInstance(Arrays.copyOf(arguments, constructor.getParameterCount()));
    }

    /** A request that was held is answered with: the session is gone. The answer is made here, as the real client has it. */
    void fail(Held held) throws Exception {
        remove(held);
        var answer = ZKMetadataStore.class.getDeclaredMethod("getException", KeeperException.Code.class, String.class);
        answer.setAccessible(true);
        var told = (MetadataStoreException) answer.invoke(null, KeeperException.Code.SESSIONEXPIRED, held.path());
        held.op().getFuture().completeExceptionally(told);
    }

    private void remove(Held held) {
        synchronized (requests) {
            requests.remove(held);
        }
    }

    /** The broker hears of what was held back of the notifications of a path. */
    void hear(String path) throws Exception {
        List<Notification> now;
        synchronized (requests) {
            now = news.stream().filter(each -> each.getPath().equals(path)).toList();
            news.removeAll(now);
        }
        for (Notification notification : now) {
            super.receivedNotification(notification).get(SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Waits until an event has come, then lets the broker know of all so far. */
    void learn(SessionEvent awaited) throws Exception {
        await(awaited);
        List<SessionEvent> now;
        synchronized (requests) {
            now = List.copyOf(events.subList(0, events.lastIndexOf(awaited) + 1));
            events.subList(0, now.size()).clear();
        }
        told = awaited;
        now.forEach(super::receivedSessionEvent);
    }

    /** How the store takes its session to be: connected, suspended or lost. */
    String state() throws Exception {
        if ((boolean) field(this, "isConnected")) {
            return "connected";
        }
        return told == SessionEvent.SessionLost ? "lost" : "suspended";
    }

    private void await(SessionEvent event) throws Exception {
        Server.until("session event " + event, () -> {
            synchronized (requests) {
                return events.contains(event);
            }
        });
    }

    /** The link is cut, and the client has noticed. It will connect again without a pause, when it can. */
    void cut(Wire link) throws Exception {
        Object connection = connection();
        var thread = field(connection, "sendThread");
        var first = thread.getClass().getDeclaredField("isFirstConnect");
        first.setAccessible(true);
        first.setBoolean(thread, true); // otherwise it pauses for up to a second, at random
        link.cut();
        await(SessionEvent.ConnectionLost);
    }

    /** By its own clock the client takes its session for lost: that clock is put forward, and the watcher looks at it. */
    void loseByClock() throws Exception {
        var watcher = (ZKSessionWatcher) field(this, "sessionWatcher");
        var since = ZKSessionWatcher.class.getDeclaredField("disconnectedAt");
        since.setAccessible(true);
        since.setLong(watcher, System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(Server.SESSION_MILLIS));
        watcher.process(new WatchedEvent(Watcher.Event.EventType.None, Watcher.Event.KeeperState.Disconnected, null));
        learn(SessionEvent.SessionLost);
    }

    /** Waits until what the server has sent this client so far has been handled; whether anything was, since this was last asked. */
    boolean moved(boolean connected) throws Exception {
        boolean any = false;
        if (connected) {
            // answers and notifications come in order on one thread of ZooKeeper's client
            sync("/").get(SECONDS, TimeUnit.SECONDS);
            any = heard();
        }
        threads.forEach(Probe::ask);
        for (Probe each : threads) {
            any |= each.moved();
        }
        return any;
    }

    /** Whether the client has been sent anything but the answer to one question since this was last asked. */
    private boolean heard() throws Exception {
        Object before = socket;
        long expected = frames + 1;
        socket = field(field(connection(), "sendThread"), "clientCnxnSocket");
        frames = ((AtomicLong) field(socket, "recvCount")).get();
        return socket != before || frames != expected;
    }

    /** The threads on which the store handles notifications and, in newer releases, reads what caches load. */
    private List<ExecutorService> executors() throws Exception {
        try {
            return List.of((ExecutorService) field(this, "eventExecutor"),
                    ((OrderedExecutor) field(this, "serDesExecutor")).chooseThread(0L));
        } catch (NoSuchFieldException e) {
            return List.of((ExecutorService) field(this, "executor"));
        }
    }

    /** Ends as a process that dies: the connection breaks, and the session is not closed. */
    void die() {
        deafen(true);
        // that takes a while, in which nothing comes of what the process was at: all of it is held
        aside(() -> {
            Object open = connection();
            var disconnect = open.getClass().getMethod("disconnect");
            disconnect.setAccessible(true);
            disconnect.invoke(open);
            close();
            giveUpConnecting();
            return null;
        });
    }

    /** Ends as a process that closes its session. */
    void end() throws Exception {
        close();
        aside(() -> {
            giveUpConnecting();
            return null;
        });
    }

    private static void aside(Callable<Void> task) {
        Thread thread = new Thread(() -> {
            try {
                task.call();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * A client whose session has expired makes another one, again and again until it is connected, also if it is closed; if it
     * is interrupted it ends the JVM (PulsarZooKeeperClient.clientCreator). So it hears that it is connected, and what it has
     * made is closed.
     */
    private void giveUpConnecting() throws Exception {
        var client = (ZooKeeper) field(this, "zkc");
        var connecting = (ExecutorService) field(client, "connectExecutor");
        var watcher = (Watcher) field(client, "watcherManager");
        while (!connecting.awaitTermination(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
            watcher.process(new WatchedEvent(Watcher.Event.EventType.None, Watcher.Event.KeeperState.SyncConnected, null));
        }
        client.close();
    }

    @SuppressWarnings("unchecked")
    private Object connection() throws Exception {
        ZooKeeper first = (ZooKeeper) field(this, "zkc");
        // the client is a ZooKeeper itself, until its session has expired: from then on it has another
        ZooKeeper later = ((AtomicReference<ZooKeeper>) field(first, "zk")).get();
        return field(later == null ? first : later, "cnxn");
    }

    /** What a field holds, of whichever class up to the highest declares it. */
    static Object field(Object of, String name) throws Exception {
        Map<String, Field> fields = FIELDS.get(of.getClass());
        Field known = fields.get(name);
        if (known == null) {
            known = declared(of.getClass(), name);
            known.setAccessible(true);
            fields.put(name, known);
        }
        return known.get(of);
    }

    private static Field declared(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (var field : each.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    return field;
                }
            }
        }
        throw new NoSuchFieldException(name);
    }
}
