package org.I0Itec.zkclient;

import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import kafka.utils.ZKStringSerializer$;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.data.Stat;

/**
 * A broker's client: what its listeners would hear is held, and so is a read of the node as an election begins, and the news that
 * its session has expired, before it opens another.
 */
public final class HeldClient extends ZkClient {
    private static final int SECONDS = 20;

    /** Called before each read of a path of an election. */
    public interface Gate {
        void reads(String path);
    }

    private final Gate gate;
    private final ZkConnection connection;
    public final HeldEvents events = new HeldEvents();
    private CountDownLatch expired = new CountDownLatch(1);
    private CountDownLatch opens = new CountDownLatch(1);
    private CountDownLatch opened = new CountDownLatch(1);
    private boolean learnt;
    private volatile boolean ended;

    public HeldClient(ZkConnection connection, Gate gate) throws Exception {
        super(connection, SECONDS * 1000, ZKStringSerializer$.MODULE$);
        this.connection = connection;
        this.gate = gate;
        Field field = ZkClient.class.getDeclaredField("_eventThread");
        field.setAccessible(true);
        ((ZkEventThread) field.get(this)).interrupt();
        field.set(this, events);
    }

    public ZkConnection connection() {
        return connection;
    }

    public long session() {
        return connection.getZookeeper().getSessionId();
    }

    @Override
    public <T extends Object> T readData(String path, Stat stat) {
        gate.reads(path);
        return super.readData(path, stat);
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getState() != KeeperState.Expired || ended) {
            super.process(event);
            return;
        }
        expired.countDown();
        try {
            opens.await();
        } catch (InterruptedException e) {
            return;
        }
        if (!ended) {
            super.process(event);
        }
        opened.countDown();
    }

    /** Waits until the client has heard that its session has expired. */
    public void learn() throws Exception {
        if (!expired.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the client does not hear that its session has expired");
        }
        learnt = true;
    }

    /** Whether it has heard that its session has expired, and has no other. */
    public boolean hasLearnt() {
        return learnt;
    }

    /** It opens another session. */
    public void reestablish() throws Exception {
        opens.countDown();
        if (!opened.await(SECONDS, TimeUnit.SECONDS) || !waitUntilConnected(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the client opens no session");
        }
        learnt = false;
        expired = new CountDownLatch(1);
        opens = new CountDownLatch(1);
        opened = new CountDownLatch(1);
    }

    /** Waits until what the server has told so far has arrived: answers and watches come in order. */
    public void barrier() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        connection.getZookeeper().exists("/", false, (rc, path, context, stat) -> answered.countDown(), null);
        if (!answered.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server does not answer");
        }
    }

    /** Ends the client, whatever it waits for. */
    public void end() {
        ended = true;
        opens.countDown();
        close();
    }
}
