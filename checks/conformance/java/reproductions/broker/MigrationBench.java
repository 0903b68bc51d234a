package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.common.migration.MigrationPhase;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.coordination.LockManager;
import org.apache.pulsar.metadata.api.coordination.ResourceLock;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.coordination.impl.CoordinationServiceImpl;
import org.apache.pulsar.metadata.impl.DualMetadataStore;
import org.apache.pulsar.metadata.impl.ZKMetadataStore;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** The metadata stores and locks of two brokers while the metadata are migrated from one ZooKeeper to another. */
public final class MigrationBench implements Lines.Target {
    private static final String PARENT = "/namespace";
    private static final int SECONDS = 20;
    private static final int SESSION_MILLIS = 10_000;

    private final Server source = new Server();
    private final Server target = new Server();
    private final Migration migration = new Migration(source, target);
    private final Map<String, Broker> brokers = new LinkedHashMap<>();

    /** A broker: its store as brokers of these releases have it, and its locks. */
    private static final class Broker {
        final DualMetadataStore store;
        final LockManager<String> manager;
        final Map<String, ResourceLock<String>> locks = new LinkedHashMap<>();

        Broker(int port) throws Exception {
            store = (DualMetadataStore) MetadataStoreExtended.create("zk:127.0.0.1:" + port,
                    MetadataStoreConfig.builder().sessionTimeoutMillis(SESSION_MILLIS).build());
            manager = new CoordinationServiceImpl(store).getLockManager(String.class);
        }

        ZKMetadataStore behind(String name) throws Exception {
            Object behind = field(store, name);
            // the target is wrapped as the source is, as it is a ZooKeeper too
            return (ZKMetadataStore) (behind instanceof DualMetadataStore ? field(behind, "sourceStore") : behind);
        }
    }

    private MigrationBench() throws Exception {
        for (Server each : new Server[] {source, target}) {
            try (var client = new ZooKeeper("127.0.0.1:" + each.port(), SESSION_MILLIS, event -> { })) {
                client.create(PARENT, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
        }
        for (String name : new String[] {"a", "b"}) {
            brokers.put(name, new Broker(source.port()));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(MigrationBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        Broker broker = brokers.get(request.path("broker").asText());
        String name = request.path("broker").asText();
        String bundle = PARENT + "/" + request.path("bundle").asText();
        switch (request.get("do").asText()) {
            case "acquire":
                answer.put("done", acquired(broker, bundle, name));
                break;
            case "release":
                answer.put("done", done(() -> broker.locks.get(bundle).release().get(SECONDS, TimeUnit.SECONDS)));
                break;
            case "pause":
                pause(broker, request.get("millis").asInt());
                break;
            case "phase":
                migration.write(MigrationPhase.valueOf(request.get("phase").asText()));
                break;
            case "prepared":
                answer.put("done", brokers.values().stream().allMatch(each -> isPrepared(each)));
                break;
            case "die":
                source.expire(broker.behind("sourceStore").getZkSessionId());
                long session = broker.behind("targetStore").getZkSessionId();
                broker.behind("targetStore").close();
                target.gone(session);
                broker.behind("sourceStore").close();
                break;
            case "look":
                answer.put("owner", broker.manager.readLock(bundle).get(SECONDS, TimeUnit.SECONDS).orElse("nobody"));
                Server.Node node = target.node(bundle);
                answer.put("session", node == null ? "none" : owner(node.owner()));
                break;
            case "state":
                answer.put("state", field(broker.locks.get(bundle), "state").toString());
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private static boolean acquired(Broker broker, String bundle, String name) throws Exception {
        return done(() -> broker.locks.put(bundle, broker.manager.acquireLock(bundle, name).get(SECONDS, TimeUnit.SECONDS)));
    }

    private interface Step {
        void take() throws Exception;
    }

    /** Whether that succeeds; it fails if the store refuses it. */
    private static boolean done(Step step) throws Exception {
        try {
            step.take();
            return true;
        } catch (ExecutionException e) {
            return false;
        }
    }

    /** The thread on which a store takes part in the migration is busy for a time. */
    private static void pause(Broker broker, int millis) throws Exception {
        ((ScheduledExecutorService) field(broker.store, "executor")).execute(() -> {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private boolean isPrepared(Broker broker) {
        try {
            return source.node((String) field(broker.store, "participantId")) == null;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private String owner(long session) throws Exception {
        for (var each : brokers.entrySet()) {
            if (each.getValue().behind("targetStore").getZkSessionId() == session) {
                return each.getKey();
            }
        }
        return "another";
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    @Override
    public void close() {
        source.close();
        target.close();
    }
}
