package org.apache.pulsar.metadata.coordination.impl;

import fencepost.Refused;
import fencepost.Server;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/**
 * A process of a broker whose metadata may be migrated: its DualMetadataStore, over a source that is held, with the target that
 * it makes. What that store does on its thread is done by a step.
 */
final class Participant {
    private static final String DUAL = "org.apache.pulsar.metadata.impl.DualMetadataStore";
    /** Where the coordinator writes how far it is. */
    private static final String FLAG = "/pulsar/migration-coordinator/migration";

    /** Whether nodes are being created in the target; what is asked for that is not held. */
    private static volatile boolean moving;

    final HeldStore source;
    final MetadataStoreExtended dual;
    /** Null until the broker has connected to it. */
    HeldStore target;
    private final Tasks tasks = new Tasks();
    private final Wire wire;

    Participant(Migration migration, HeldStore source) throws Exception {
        this.source = source;
        wire = Wire.to(migration.target);
        beforeConnecting();
        if (!migration.isPossible()) {
            dual = source;
            return;
        }
        Class<?> type = Class.forName(DUAL);
        var config = MetadataStoreConfig.builder().sessionTimeoutMillis(Server.SESSION_MILLIS).batchingEnabled(false).build();
        dual = (MetadataStoreExtended) type.getConstructors()[0].newInstance(source, config);
        Bare.set(type, dual, "executor", tasks);
    }

    /** What is held of a broker whose metadata may be migrated: also the news of that, and not what it moves itself. */
    static HeldStore.Concern held(HeldStore.Concern bundles) {
        return new HeldStore.Concern() {
            @Override
            public boolean with(String path) {
                return path.equals(FLAG) || bundles.with(path);
            }

            @Override
            public String kind(MetadataOp op) {
                return moving || op.getPath().equals(FLAG) ? null : bundles.kind(op);
            }

            @Override
            public boolean isNews(org.apache.pulsar.metadata.api.Notification notification) {
                return notification.getPath().equals(FLAG) || bundles.isNews(notification);
            }
        };
    }

    /** Whether it has yet to hear how far the migration is. */
    boolean hasNews() {
        return source.hasNews(FLAG);
    }

    /** Hears how far the migration is. */
    void hear() throws Exception {
        if (!hasNews()) {
            throw new Refused("there is no news of the migration");
        }
        source.hear(FLAG);
    }

    /** Prepares itself: its nodes are created in the target. */
    void prepare() throws Exception {
        if (pending() > 0) {
            throw new Refused("requests are under way, for which a preparation waits");
        }
        beforeConnecting();
        moving = true;
        try {
            act();
        } finally {
            moving = false;
        }
    }

    /** Does what it has set out to do. */
    void act() throws Refused {
        Runnable task = tasks.next();
        if (task == null) {
            throw new Refused("the store has set out to do nothing");
        }
        task.run();
    }

    /** Whoever connects to the target now is this one. */
    private void beforeConnecting() throws Exception {
        var concern = (HeldStore.Concern) HeldStore.field(source, "concern");
        HeldTarget.is(() -> target = new HeldStore(wire.address(), concern));
    }

    private int pending() throws Exception {
        return ((AtomicInteger) HeldStore.field(dual, "pendingSourceWrites")).get();
    }

    /** Whether it refuses to write. */
    boolean isReadOnly() throws Exception {
        if (dual == source) {
            return false;
        }
        Object state = HeldStore.field(dual, "migrationState");
        String phase = String.valueOf(state.getClass().getMethod("getPhase").invoke(state));
        return phase.equals("PREPARATION") || phase.equals("COPYING");
    }

    /** Whether its node by which it takes part is gone. */
    boolean isPrepared(Server server) throws Exception {
        return dual != source && server.node((String) HeldStore.field(dual, "participantId")) == null;
    }

    /** The session with the target; 0 if there is none. */
    long session() {
        return target == null ? 0 : target.getZkSessionId();
    }

    /** The process dies with all its stores; of that one its caller takes care. */
    void die(HeldStore except) throws Exception {
        for (HeldStore each : new HeldStore[] {source, target}) {
            if (each != null && each != except) {
                each.die();
            }
        }
        wire.close();
    }

    /** An executor that does nothing by itself. */
    private static final class Tasks extends ScheduledThreadPoolExecutor {
        private final Queue<Runnable> queue = new ArrayDeque<>();

        Tasks() {
            super(0);
        }

        @Override
        public synchronized void execute(Runnable task) {
            queue.add(task);
        }

        synchronized Runnable next() {
            return queue.poll();
        }
    }
}
