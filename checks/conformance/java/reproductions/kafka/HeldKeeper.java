package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server on a free port of the loopback interface, which can keep one session waiting; a request is answered with the port. */
public final class HeldKeeper implements Lines.Target {
    private static final int TICK_MILLISECONDS = 200;
    private static final int CONNECTIONS = 100;
    private static final int SESSION_MILLISECONDS = 600_000;
    private static final int WAIT_MILLISECONDS = 120_000;

    private final NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
    private final Server server;

    private HeldKeeper() throws Exception {
        server = new Server(Folders.fresh("zookeeper"));
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
        server.setMaxSessionTimeout(SESSION_MILLISECONDS);
        factory.startup(server);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(HeldKeeper::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.path("do").asText()) {
            case "hold":
                server.hold(request.get("path").asText());
                break;
            case "held":
                answer.put("held", server.isHeld());
                break;
            case "release":
                server.release();
                break;
            default:
                answer.put("port", factory.getLocalPort());
        }
    }

    @Override
    public void close() {
        factory.shutdown();
    }

    /** The next request for the children of a path, and all that come after it in its session, wait until they are let go. */
    private static final class Server extends ZooKeeperServer {
        private final Deque<Request> held = new ArrayDeque<>();
        private String path;

        Server(File folder) throws IOException {
            super(folder, folder, TICK_MILLISECONDS);
        }

        synchronized void hold(String children) {
            path = children;
        }

        /** Waits until a request is held; returns whether one is. */
        synchronized boolean isHeld() throws InterruptedException {
            long end = System.currentTimeMillis() + WAIT_MILLISECONDS;
            while (held.isEmpty() && System.currentTimeMillis() < end) {
                wait(end - System.currentTimeMillis());
            }
            return !held.isEmpty();
        }

        synchronized void release() {
            while (!held.isEmpty()) {
                super.submitRequest(held.poll());
            }
        }

        @Override
        public synchronized void submitRequest(Request request) {
            boolean follows = !held.isEmpty() && held.peek().sessionId == request.sessionId;
            if (!follows && !begins(request)) {
                super.submitRequest(request);
                return;
            }
            held.add(request);
            path = null;
            notifyAll();
        }

        private boolean begins(Request request) {
            if (path == null || request.request == null || !List.of(OpCode.getChildren, OpCode.getChildren2).contains(request.type)) {
                return false;
            }
            ByteBuffer asked = request.request.duplicate();
            byte[] text = new byte[asked.getInt()];
            asked.get(text);
            return path.equals(new String(text, StandardCharsets.UTF_8));
        }
    }
}
