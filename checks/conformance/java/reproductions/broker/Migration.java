package fencepost;

import java.util.Set;
import org.apache.pulsar.common.migration.MigrationPhase;
import org.apache.pulsar.common.migration.MigrationState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A migration of the metadata from one ZooKeeper to another, step by step. What the coordinator writes is written here: the real
 * one takes no target but Oxia.
 */
final class Migration {
    private static final int SESSION_MILLIS = 30_000;

    private final String to;
    private final ZooKeeper operator;
    private final ZooKeeper there;

    Migration(Server source, Server target) throws Exception {
        to = "zk:127.0.0.1:" + target.port();
        operator = client(source);
        there = client(target);
    }

    private static ZooKeeper client(Server server) throws Exception {
        return new ZooKeeper("127.0.0.1:" + server.port(), SESSION_MILLIS, event -> { });
    }

    /** The session with the source that is no broker's. */
    long session() {
        return operator.getSessionId();
    }

    void write(MigrationPhase phase) throws Exception {
        put(operator, MigrationState.MIGRATION_FLAG_PATH, Lines.JSON.writeValueAsBytes(new MigrationState(phase, to)));
    }

    /** An operator puts a node without a value into the target. */
    void place(String path) throws Exception {
        put(there, path, new byte[0]);
    }

    /** How many metadata stores the coordinator would still wait for. */
    int participants() throws Exception {
        return operator.getChildren(MigrationState.PARTICIPANTS_PATH, false).size();
    }

    /** Everything goes to the target, each value with its version, as the coordinator copies it; nodes of sessions do not. */
    void copy() throws Exception {
        copy("/");
    }

    private static void put(ZooKeeper client, String path, byte[] value) throws Exception {
        String above = "";
        for (String part : path.substring(1).split("/")) {
            above += "/" + part;
            boolean last = above.equals(path);
            try {
                client.create(above, last ? value : new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException e) {
                if (last) {
                    client.setData(path, value, -1);
                }
            }
        }
    }

    private void copy(String path) throws Exception {
        if (Set.of("/zookeeper", MigrationState.PARTICIPANTS_PATH, MigrationState.MIGRATION_FLAG_PATH).contains(path)) {
            return;
        }
        Stat stat = new Stat();
        byte[] value = operator.getData(path, false, stat);
        if (stat.getEphemeralOwner() != 0) {
            return;
        }
        if (!path.equals("/")) {
            put(there, path, value == null ? new byte[0] : value);
            while (there.exists(path, false).getVersion() < stat.getVersion()) {
                there.setData(path, value, -1);
            }
        }
        for (String child : operator.getChildren(path, false)) {
            copy((path.equals("/") ? "" : path) + "/" + child);
        }
    }
}
