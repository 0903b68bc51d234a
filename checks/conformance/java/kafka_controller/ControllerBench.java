package kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.MembersBench;
import fencepost.Server;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Brokers that elect a controller: a ZooKeeper server, which stays, and a KafkaController each, new for each run, under a path of
 * its own. {@code begin} has the {@code brokers}, {@code let} has {@code what}.
 */
public final class ControllerBench extends MembersBench<HeldController> {
    private final Server server = new Server();
    private final ZooKeeper own;
    private String root;

    private ControllerBench() throws Exception {
        own = new ZooKeeper("127.0.0.1:" + server.port(), Server.SESSION_MILLIS, event -> { });
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ControllerBench::new);
    }

    @Override
    protected void begin(JsonNode request, int run) throws Exception {
        root = "/run-" + run;
        make(root, "");
        make(root + "/controller_epoch", "0");
        int id = 0;
        for (JsonNode name : request.get("brokers")) {
            String url = "127.0.0.1:" + server.port() + root;
            members.put(name.asText(), HeldController.make(id++, url, Server.SESSION_MILLIS));
        }
        for (HeldController broker : members.values()) {
            broker.begin();
        }
    }

    private void make(String path, String value) throws Exception {
        own.create(path, value.getBytes(StandardCharsets.UTF_8), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    @Override
    protected void take(HeldController broker, String step, JsonNode request) throws Exception {
        String name = request.path("of").asText();
        switch (step) {
            case "let":
                String what = request.path("what").asText();
                orRefuse(broker.let(what), name + " does not wait for this: " + what);
                break;
            case "hear":
                orRefuse(broker.hear(false), name + " has nothing to hear of the node");
                break;
            case "session":
                orRefuse(broker.hear(true), name + " has no new session to handle");
                break;
            case "resign":
                broker.resign();
                break;
            case "expire":
                server.expire(broker.client().session());
                break;
            case "learn":
                broker.client().learn();
                break;
            case "reestablish":
                broker.client().reestablish();
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    @Override
    protected void settle() throws Exception {
        for (HeldController broker : members.values()) {
            if (server.has(broker.client().session())) {
                broker.client().barrier();
            }
        }
    }

    @Override
    protected void end() {
        members.values().forEach(HeldController::end);
        members.clear();
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        Server.Node node = server.node(root + "/controller");
        String holder = node == null ? "nobody" : "b" + Lines.JSON.readTree(node.value()).get("brokerid").asInt();
        seen.put("holder", holder);
        seen.put("former", node != null && members.get(holder).client().session() != node.owner());
        seen.put("controller_epoch", Integer.parseInt(server.node(root + "/controller_epoch").value()));
        ObjectNode each = seen.putObject("brokers");
        for (Map.Entry<String, HeldController> entry : members.entrySet()) {
            HeldController broker = entry.getValue();
            ObjectNode told = each.putObject(entry.getKey());
            told.put("lives", true);
            told.put("link", broker.client().hasLearnt() ? "lost" : "connected");
            told.put("session", server.has(broker.client().session()));
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

    @Override
    public void close() throws Exception {
        end();
        own.close();
        server.close();
    }
}
