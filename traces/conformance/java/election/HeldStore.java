package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.Notification;
import org.apache.pulsar.metadata.api.NotificationType;
import org.apache.pulsar.metadata.api.extended.SessionEvent;
import org.apache.pulsar.metadata.impl.PulsarZooKeeperClient;
import org.apache.pulsar.metadata.impl.ZKMetadataStore;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;
import org.apache.zookeeper.ZooKeeper;

/**
 * A broker's metadata store that holds what concerns one path: requests before they are sent, notifications from the first
 * deletion on, and session events.
 *
 * <p>Requests are not batched, so that each one comes on the thread of who asks: whose it is shows in its stack.
 */
final class HeldStore extends ZKMetadataStore {
    static final int SECONDS = 20;
    private static final Notification NOBODY_CARES = new Notification(NotificationType.Modified, "/nobody-cares");

    /** What a request is for; the names are those that Fencepost reads. */
    enum Kind {
        /** The read with which an election begins. */
        LOOK("look"),
        /** The read of an election that a session event begins, one after the other. */
        LOOK_AFTER_EVENT("look"),
        /** A read of the cache. */
        CACHE("confirm"), CREATE("create"), DELETE("delete");

        final String name;

        Kind(String name) {
            this.name = name;
        }
    }

    /** A request that is held. */
    record Held(Kind kind, MetadataOp op) {
    }

    // the constructor of the superclass already calls what is overridden here: then these are null
    private final String path;
    private final List<Held> requests = new ArrayList<>();
    private final List<Notification> news = new ArrayList<>();
    private final List<SessionEvent> events = new ArrayList<>();
    private int arrived;
    private boolean deaf;

    HeldStore(String address, String path) throws Exception {
        super(address, MetadataStoreConfig.builder().sessionTimeoutMillis(Server.SESSION_MILLIS).batchingEnabled(false).build(),
                true);
        this.path = path;
    }

    @Override
    protected void batchOperation(List<MetadataOp> operations) {
        for (MetadataOp op : operations) {
            if (path != null && path.equals(op.getPath())) {
                synchronized (requests) {
                    requests.add(new Held(kind(op), op));
                    arrived++;
                }
            } else {
                super.batchOperation(List.of(op));
            }
        }
    }

    private static Kind kind(MetadataOp op) {
        switch (op.getType()) {
            case PUT:
                return Kind.CREATE;
            case DELETE:
                return Kind.DELETE;
            case GET:
                if (calledFrom("MetadataCacheImpl", "")) {
                    return Kind.CACHE;
                }
                return calledFrom("LeaderElectionImpl", "handleSessionNotification") ? Kind.LOOK_AFTER_EVENT : Kind.LOOK;
            default:
                throw new IllegalStateException("no request of an election: " + op.getType());
        }
    }

    private static boolean calledFrom(String type, String method) {
        return StackWalker.getInstance().walk(frames -> frames.anyMatch(
                frame -> frame.getClassName().endsWith("." + type) && frame.getMethodName().contains(method)));
    }

    @Override
    protected CompletableFuture<Void> receivedNotification(Notification notification) {
        if (path == null || !path.equals(notification.getPath())) {
            return super.receivedNotification(notification);
        }
        synchronized (requests) {
            if (deaf) {
                return CompletableFuture.completedFuture(null);
            }
            if (!news.isEmpty() || notification.getType() == NotificationType.Deleted) {
                news.add(notification);
                arrived++;
                return CompletableFuture.completedFuture(null);
            }
        }
        return super.receivedNotification(notification);
    }

    @Override
    protected void receivedSessionEvent(SessionEvent event) {
        if (path == null) {
            super.receivedSessionEvent(event);
            return;
        }
        synchronized (requests) {
            events.add(event);
            arrived++;
        }
    }

    /** How much has come so far; what has not changed it has not come. */
    int arrived() {
        synchronized (requests) {
            return arrived;
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

    boolean hasNews() {
        synchronized (requests) {
            return !news.isEmpty();
        }
    }

    /** Sends a request that was held, and waits for its answer, whatever that is. */
    void send(Held held) throws Exception {
        synchronized (requests) {
            requests.remove(held);
        }
        super.batchOperation(List.of(held.op()));
        try {
            held.op().getFuture().get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            // it is the broker's matter
        }
    }

    /** The broker hears of what was held back of notifications. */
    void hear() throws Exception {
        List<Notification> now;
        synchronized (requests) {
            now = List.copyOf(news);
            news.clear();
        }
        for (Notification notification : now) {
            super.receivedNotification(notification).get(SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Waits until an event has come, then lets the broker know of all so far. */
    void learn(SessionEvent awaited) throws Exception {
        Server.until("session event " + awaited, () -> {
            synchronized (requests) {
                return events.contains(awaited);
            }
        });
        List<SessionEvent> now;
        synchronized (requests) {
            now = List.copyOf(events.subList(0, events.lastIndexOf(awaited) + 1));
            events.subList(0, now.size()).clear();
        }
        now.forEach(super::receivedSessionEvent);
    }

    /** Whatever the server has told this client has been handled when this returns, up to what is held. */
    void quiet(boolean connected) throws Exception {
        if (connected) {
            // answers and notifications come in order on one thread of ZooKeeper's client
            sync("/").get(SECONDS, TimeUnit.SECONDS);
        }
        // and are handled in order on one thread of the store, whose name is not the same in all releases
        super.receivedNotification(NOBODY_CARES).get(SECONDS, TimeUnit.SECONDS);
    }

    /** Ends as a process that dies: the connection breaks, and the session is not closed. */
    void die() {
        deafen(true);
        // that takes a while, in which nothing comes of what the process was at: all of it is held
        Thread dying = new Thread(() -> {
            try {
                disconnect();
                close();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        dying.setDaemon(true);
        dying.start();
    }

    @SuppressWarnings("unchecked")
    private void disconnect() throws Exception {
        var ofStore = ZKMetadataStore.class.getDeclaredField("zkc");
        ofStore.setAccessible(true);
        var ofClient = PulsarZooKeeperClient.class.getDeclaredField("zk");
        ofClient.setAccessible(true);
        ZooKeeper first = (ZooKeeper) ofStore.get(this);
        // the client is a ZooKeeper itself, until its session has expired: from then on it has another
        ZooKeeper later = ((AtomicReference<ZooKeeper>) ofClient.get(first)).get();
        var connection = ZooKeeper.class.getDeclaredField("cnxn");
        connection.setAccessible(true);
        Object open = connection.get(later == null ? first : later);
        var disconnect = open.getClass().getMethod("disconnect");
        disconnect.setAccessible(true);
        disconnect.invoke(open);
    }
}
