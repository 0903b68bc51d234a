package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** A client of Kafka's servers: topics, messages, and what ZooKeeper has of the servers. */
public final class KafkaClient implements Lines.Target {
    private static final String TOPIC = "x";
    private static final int SECONDS = 60;
    private static final int SESSION_MILLISECONDS = 60_000;

    private final ZooKeeper zookeeper;
    private final Map<String, Object> servers;

    private KafkaClient(String zookeeper, String servers) throws Exception {
        this.zookeeper = new ZooKeeper(zookeeper, SESSION_MILLISECONDS, event -> { });
        this.servers = Map.of("bootstrap.servers", servers, "request.timeout.ms", 5000, "max.block.ms", 10_000, "retries", 0);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(() -> new KafkaClient(arguments[0], arguments[1]));
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "registered":
                answer.put("incarnation", incarnation(request.get("broker").asInt()));
                break;
            case "controller":
                answer.put("broker", controller());
                break;
            case "elect":
                zookeeper.delete("/controller", -1);
                while (zookeeper.exists("/controller", false) == null) {
                    Thread.sleep(20);
                }
                answer.put("broker", controller());
                break;
            case "advertise":
                advertise(request.get("broker").asText(), request.get("address").asText());
                break;
            case "registration":
                String path = "/brokers/ids/" + request.get("broker").asInt();
                answer.put("registration", new String(zookeeper.getData(path, false, null), StandardCharsets.UTF_8));
                break;
            case "address":
                answer.put("address", address(request.get("broker").asInt()));
                break;
            case "create":
                create(request.get("broker").asInt());
                break;
            case "send":
                sent(request.get("messages").asInt(), answer.putArray("offsets"));
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private int controller() throws Exception {
        return Lines.JSON.readTree(zookeeper.getData("/controller", false, null)).get("brokerid").asInt();
    }

    /** A server is to give clients another address of itself, without a restart. */
    @SuppressWarnings("deprecation") // what takes its place is not in 1.1
    private void advertise(String broker, String address) throws Exception {
        try (AdminClient admin = admin()) {
            var entry = new ConfigEntry("advertised.listeners", address);
            var resource = new ConfigResource(ConfigResource.Type.BROKER, broker);
            admin.alterConfigs(Map.of(resource, new Config(List.of(entry)))).all().get(SECONDS, TimeUnit.SECONDS);
        }
    }

    /** The address at which clients are to reach a server. */
    private String address(int broker) throws Exception {
        try (AdminClient admin = admin()) {
            for (Node node : admin.describeCluster().nodes().get(SECONDS, TimeUnit.SECONDS)) {
                if (node.id() == broker) {
                    return node.host();
                }
            }
        }
        return "none";
    }

    private AdminClient admin() {
        return AdminClient.create(Map.of("bootstrap.servers", servers.get("bootstrap.servers")));
    }

    /** The transaction that made the node of a broker; 0 if it is not registered. */
    private long incarnation(int broker) throws Exception {
        Stat node = zookeeper.exists("/brokers/ids/" + broker, false);
        return node == null ? 0 : node.getCzxid();
    }

    /** A topic of one partition, whose only replica is that broker. */
    private void create(int broker) throws Exception {
        try (AdminClient admin = admin()) {
            var topic = new NewTopic(TOPIC, Map.of(0, List.of(broker)));
            admin.createTopics(List.of(topic)).all().get(SECONDS, TimeUnit.SECONDS);
        }
    }

    /** The offsets of the messages of a new producer that are acknowledged. */
    private void sent(int messages, ArrayNode offsets) throws InterruptedException {
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<String, String>(servers, serializer, serializer)) {
            for (int message = 0; message < messages; message++) {
                try {
                    offsets.add(producer.send(new ProducerRecord<>(TOPIC, "m" + message)).get().offset());
                } catch (ExecutionException | KafkaException e) {
                    // then it is not acknowledged
                }
            }
        }
    }

    @Override
    public void close() throws Exception {
        zookeeper.close();
    }
}
