package kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Folders;
import fencepost.Lines;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * Brokers that elect a controller: a ZooKeeper server, which stays, and a KafkaController each, new for each run, under a path of
 * its own. A request is {@code {"do": ..., "of": broker}}, with {@code brokers} for {@code begin} and {@code what} for
 * {@code let}. The answer has {@code seen}, or {@code refused} if the code cannot take the step.
 */
public final class ControllerBench implements Lines.Target {
    private static final int SESSION_MILLIS = 600_000;

    private final ZooKeeperServer server;
    private final ServerCnxnFactory connections;
    private final ZooKeeper own;
    private final Map<String, HeldController> brokers = new LinkedHashMap<>();
    private int runs;
    private String root;

    private ControllerBench() throws Exception {
        var folder = Folders.fresh("zookeeper");
        server = new ZooKeeperServer(folder, folder, 2000);
        server.setMaxSessionTimeout(SESSION_MILLIS);
        connections = ServerCnxnFactory.createFactory(new InetSocketAddress("127.0.0.1", 0), 0);
        connections.startup(server);
        own = new ZooKeeper("127.0.0.1:" + connections.getLocalPort(), SESSION_MILLIS, event -> { });
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ControllerBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        String refused = take(request, request.path("do").asText());
        for (HeldController broker : brokers.values()) {
            if (has(broker)) {
                broker.client().barrier();
            }
        }
        if (refused != null) {
            answer.put("refused", refused);
        } else {
            tell(answer.putObject("seen"));
        }
    }

    private String take(JsonNode request, String step) throws Exception {
        if (step.equals("begin")) {
            begin(request.get("brokers"));
            return null;
        }
        String name = request.path("of").asText();
        HeldController broker = brokers.get(name);
        switch (step) {
            case "let":
                String what = request.path("what").asText();
                return broker.let(what) ? null : name + " does not wait for this: " + what;
            case "hear":
                return broker.hear(false) ? null : name + " has nothing to hear of the node";
            case "session":
                return broker.hear(true) ? null : name + " has no new session to handle";
            case "resign":
                broker.resign();
                return null;
            case "expire":
                long session = broker.client().session();
                server.closeSession(session);
                until(() -> !has(session) && server.getZKDatabase().getDataTree().getEphemerals(session).isEmpty());
                return null;
            case "learn":
                broker.client().learn();
                return null;
            case "reestablish":
                broker.client().reestablish();
                return null;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private void begin(JsonNode names) throws Exception {
        end();
        root = "/run-" + ++runs;
        make(root, "");
        make(root + "/controller_epoch", "0");
        int id = 0;
        for (JsonNode name : names) {
            String url = "127.0.0.1:" + connections.getLocalPort() + root;
            brokers.put(name.asText(), HeldController.make(id++, url, SESSION_MILLIS));
        }
        for (HeldController broker : brokers.values()) {
            broker.begin();
        }
    }

    private void make(String path, String value) throws Exception {
        own.create(path, value.getBytes(StandardCharsets.UTF_8), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private void end() {
        brokers.values().forEach(HeldController::end);
        brokers.clear();
    }

    private boolean has(long session) {
        return server.getZKDatabase().getSessionWithTimeOuts().containsKey(session);
    }

    private boolean has(HeldController broker) {
        return has(broker.client().session());
    }

    private void tell(ObjectNode seen) throws Exception {
        Stat stat = new Stat();
        String holder = "nobody";
        try {
            byte[] value = server.getZKDatabase().getData(root + "/controller", stat, null);
            holder = "b" + Lines.JSON.readTree(value).get("brokerid").asInt();
            seen.put("former", brokers.get(holder).client().session() != stat.getEphemeralOwner());
        } catch (KeeperException.NoNodeException e) {
            seen.put("former", false);
        }
        seen.put("holder", holder);
        byte[] epoch = server.getZKDatabase().getData(root + "/controller_epoch", stat, null);
        seen.put("controller_epoch", Integer.parseInt(new String(epoch, StandardCharsets.UTF_8)));
        ObjectNode each = seen.putObject("brokers");
        for (Map.Entry<String, HeldController> entry : brokers.entrySet()) {
            HeldController broker = entry.getValue();
            ObjectNode told = each.putObject(entry.getKey());
            told.put("lives", true);
            told.put("link", broker.client().hasLearnt() ? "lost" : "connected");
            told.put("session", has(broker));
            told.put("leader", broker.leader() < 0 ? "nobody" : "b" + broker.leader());
            told.put("active", broker.acts());
            told.put("epoch", broker.term());
            told.put("change", broker.client().events.hasNews());
            told.put("new_sessions", broker.client().events.sessions());
            if (broker.point() != null) {
                told.putArray("requests").add(broker.point());
            }
        }
    }

    private static void until(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("a session does not end");
            }
            Thread.sleep(1);
        }
    }

    @Override
    public void close() throws Exception {
        end();
        own.close();
        connections.shutdown();
    }
}
