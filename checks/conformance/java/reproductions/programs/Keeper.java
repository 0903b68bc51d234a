package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server on a free port of the loopback interface; a request is answered with the port. */
public final class Keeper implements Lines.Target {
    private static final int TICK_MILLISECONDS = 200;
    private static final int CONNECTIONS = 100;
    /** As long as a client may ask for. */
    private static final int SESSION_MILLISECONDS = 600_000;

    private final NIOServerCnxnFactory factory = new NIOServerCnxnFactory();

    private Keeper() throws Exception {
        File folder = Folders.fresh("zookeeper");
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
        ZooKeeperServer server = new ZooKeeperServer(folder, folder, TICK_MILLISECONDS);
        server.setMaxSessionTimeout(SESSION_MILLISECONDS);
        factory.startup(server);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(Keeper::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) {
        answer.put("port", factory.getLocalPort());
    }

    @Override
    public void close() {
        factory.shutdown();
    }
}
