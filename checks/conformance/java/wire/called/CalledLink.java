package org.apache.zookeeper.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The way of one client to a server that is called. Who connects while it is down waits until it is up. */
public final class CalledLink {
    private static final int PORTS = 1 << 16;
    private static final Map<Integer, CalledLink> LINKS = new ConcurrentHashMap<>();
    private static int last;

    private final CalledServer server;
    private final int port;
    private final List<CalledConnection> connections = new ArrayList<>();
    private final List<Runnable> waiting = new ArrayList<>();
    private final AtomicLong carried = new AtomicLong();
    private boolean up = true;

    public CalledLink(CalledServer server) {
        this.server = server;
        synchronized (LINKS) {
            do {
                last = last % (PORTS - 1) + 1;
            } while (LINKS.containsKey(last));
            port = last;
            LINKS.put(port, this);
        }
    }

    /** The link of that port; null if it is closed. No socket is there. */
    public static CalledLink at(int port) {
        return LINKS.get(port);
    }

    /** Where it begins. It is named twice, since a client that knows one server only pauses for a second between attempts. */
    public String address() {
        String door = "127.0.0.1:" + port;
        return door + "," + door;
    }

    /** A connection that runs {@code arrival} when something comes; null while the link is down: then that is run when it is up. */
    public synchronized CalledConnection connect(Runnable arrival) {
        if (!up) {
            waiting.add(arrival);
            return null;
        }
        CalledConnection connection = new CalledConnection(server, () -> {
            carried.incrementAndGet();
            arrival.run();
        });
        connections.add(connection);
        return connection;
    }

    public void cut() {
        List<CalledConnection> cut;
        synchronized (this) {
            up = false;
            cut = List.copyOf(connections);
            connections.clear();
        }
        cut.forEach(each -> each.close(ServerCnxn.DisconnectReason.CONNECTION_CLOSE_FORCED));
    }

    public synchronized void mend() {
        up = true;
        waiting.forEach(Runnable::run);
        waiting.clear();
    }

    public synchronized boolean isUp() {
        return up;
    }

    public synchronized void silence() {
        connections.forEach(CalledConnection::silence);
    }

    public synchronized void deafen() {
        connections.forEach(CalledConnection::deafen);
    }

    public synchronized boolean hasMissed() {
        return connections.stream().anyMatch(CalledConnection::hasMissed);
    }

    /** How often anything has come for the client: a frame, or the end of a connection. */
    public long carried() {
        return carried.get();
    }

    public void close() {
        cut();
        LINKS.remove(port, this);
    }
}
