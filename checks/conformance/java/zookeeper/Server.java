package fencepost;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server in this JVM, on a free port of the loopback interface. Sessions expire only when they are told to. */
public final class Server implements AutoCloseable {
    /** As long as a session timeout may be: no run takes longer. */
    public static final int SESSION_MILLIS = 600_000;
    private static final int SECONDS = 20;

    private final ZooKeeperServer server;
    private final ServerCnxnFactory connections;
    private final int port;

    public Server() throws Exception {
        var folder = Folders.fresh("zookeeper");
        server = new ZooKeeperServer(folder, folder, 2000);
        server.setMaxSessionTimeout(SESSION_MILLIS);
        connections = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", 0), 0);
        connections.startup(server);
        port = connections.getLocalPort();
    }

    /** A server that somebody else has started, and ends. */
    public Server(ZooKeeperServer server, int port) {
        this.server = server;
        this.connections = null;
        this.port = port;
    }

    public ZooKeeperServer zookeeper() {
        return server;
    }

    public int port() {
        return port;
    }

    /** What a node holds and who made it. */
    public record Node(String value, long owner, int version) {
    }

    /** The node at a path, null if there is none. */
    public Node node(String path) {
        Stat stat = new Stat();
        try {
            byte[] value = server.getZKDatabase().getData(path, stat, null);
            return new Node(new String(value, StandardCharsets.UTF_8), stat.getEphemeralOwner(), stat.getVersion());
        } catch (KeeperException.NoNodeException e) {
            return null;
        }
    }

    /** The sessions that there are. */
    public Set<Long> sessions() {
        return Set.copyOf(server.getZKDatabase().getSessionWithTimeOuts().keySet());
    }

    public boolean has(long session) {
        return server.getZKDatabase().getSessionWithTimeOuts().containsKey(session);
    }

    /** The session expires, and its nodes go. */
    public void expire(long session) throws Exception {
        Set<String> nodes = Set.copyOf(server.getZKDatabase().getDataTree().getEphemerals(session));
        server.closeSession(session);
        gone(session);
        // the session is without nodes before these are taken out of the tree, one after the other
        until("end of a session's nodes", () -> nodes.stream().map(this::node).noneMatch(n -> n != null && n.owner() == session));
    }

    /** Waits until a session that was closed is gone, with its nodes. */
    public void gone(long session) throws Exception {
        until("end of a session", () -> !has(session) && server.getZKDatabase().getDataTree().getEphemerals(session).isEmpty());
    }

    /** Waits for a condition that nothing signals. */
    public static void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("waited " + SECONDS + " s in vain for the " + what);
            }
            Thread.sleep(1);
        }
    }

    @Override
    public void close() {
        if (connections != null) {
            connections.shutdown();
        }
    }
}
