package kafka.controller;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Properties;
import kafka.server.BrokerState;
import kafka.server.KafkaConfig;
import kafka.server.ZookeeperLeaderElector;
import kafka.utils.ZkUtils;
import org.I0Itec.zkclient.HeldClient;
import org.I0Itec.zkclient.HeldEvents.Heard;
import org.I0Itec.zkclient.ZkConnection;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.SystemTime;

/**
 * A broker's KafkaController, with the real elector, listeners and epoch. Of its fail-over the epoch is real; what a controller
 * runs besides is a flag that onControllerFailover sets and onControllerResignation takes away.
 */
final class HeldController extends KafkaController {
    private final Worker worker;
    private final HeldClient client;
    private final ZookeeperLeaderElector elector;
    private volatile boolean active;

    private HeldController(KafkaConfig config, ZkUtils zk, HeldClient client, Worker worker) throws Exception {
        super(config, zk, new BrokerState(), new SystemTime(), new Metrics(), scala.Option.<String>empty());
        this.worker = worker;
        this.client = client;
        Field field = Arrays.stream(KafkaController.class.getDeclaredFields())
            .filter(f -> f.getType() == ZookeeperLeaderElector.class).findFirst().orElseThrow();
        field.setAccessible(true);
        elector = (ZookeeperLeaderElector) field.get(this);
    }

    /** A broker with a session of its own, which has not begun yet. */
    static HeldController make(int id, String url, int timeout) throws Exception {
        Properties properties = new Properties();
        properties.put("zookeeper.connect", url);
        properties.put("broker.id", Integer.toString(id));
        properties.put("listeners", "PLAINTEXT://localhost:0");
        Worker worker = new Worker("b" + id);
        ZkConnection connection = new ZkConnection(url, timeout);
        HeldClient client = new HeldClient(connection, path -> {
            if (path.equals(ZkUtils.ControllerPath()) && isElecting()) {
                worker.waitsAt("elect");
            }
        });
        ZkUtils zk = new ZkUtils(client, connection, false);
        return new HeldController(KafkaConfig.fromProps(properties), zk, client, worker);
    }

    /** Whether the read is the first of an election, and not the second, after its creation has failed. */
    private static boolean isElecting() {
        return StackWalker.getInstance().walk(frames -> frames
            .anyMatch(f -> f.getMethodName().equals("elect") && f.getClassName().endsWith("ZookeeperLeaderElector")));
    }

    void begin() throws Exception {
        worker.does(this::startup);
    }

    @Override
    public void onControllerFailover() {
        worker.waitsAt("read");
        try {
            Method read = Arrays.stream(KafkaController.class.getDeclaredMethods())
                .filter(m -> m.getName().endsWith("readControllerEpochFromZookeeper")).findFirst().orElseThrow();
            read.setAccessible(true);
            read.invoke(this);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        worker.waitsAt("raise");
        incrementControllerEpoch(client);
        active = true;
    }

    @Override
    public void onControllerResignation() {
        super.onControllerResignation();
        active = false;
    }

    /** What sendUpdateMetadataRequest does on an IllegalStateException. */
    void resign() throws Exception {
        worker.does(elector::resign);
    }

    /** Handles what is held, of the node or of a session; false if there is nothing, or no thread for it. */
    boolean hear(boolean session) throws Exception {
        Heard heard = worker.isFree() ? client.events.take(session) : null;
        if (heard == null) {
            return false;
        }
        worker.does(heard::run);
        return true;
    }

    boolean let(String point) throws Exception {
        return worker.let(point);
    }

    String point() {
        return worker.point();
    }

    HeldClient client() {
        return client;
    }

    int leader() {
        return elector.leaderId();
    }

    boolean acts() {
        return active;
    }

    int term() {
        return controllerContext().epoch();
    }

    void end() {
        worker.end();
        client.end();
    }
}
