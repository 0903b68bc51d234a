package org.apache.pulsar.metadata.coordination.impl;

import fencepost.Refused;
import fencepost.Server;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pulsar.metadata.api.MetadataStore;

/**
 * The one migration of a run: the stores that it goes from and to, and the coordinator's own methods, one for each step.
 *
 * <p>Of MigrationCoordinator the constructor is not used, which accepts no target but Oxia, and not the copy of what is persistent,
 * which is there. Releases without it have no migration, so that its classes are found by name.
 */
final class Migration {
    private static final String COORDINATOR = "org.apache.pulsar.metadata.coordination.impl.MigrationCoordinator";
    private static final int LOOK_SECONDS = 20;

    final Server source = Wire.server();
    final Server target = Wire.server();
    private final HeldStore operator;
    private final Object coordinator;
    private CompletableFuture<Void> preparation;
    private boolean started;
    private boolean completed;

    /** What is persistent, the parent of all owner nodes, is in the target from the beginning. */
    Migration(String parent) throws Exception {
        var there = new HeldStore(Wire.to(target).address(), null);
        there.put(parent, new byte[0], Optional.of(-1L)).get(HeldStore.SECONDS, TimeUnit.SECONDS);
        there.close();
        operator = new HeldStore(Wire.to(source).address(), null);
        coordinator = coordinator(operator);
    }

    /** The coordinator over a store; null if the release has none. */
    private static Object coordinator(HeldStore store) throws Exception {
        Class<?> type;
        try {
            type = Class.forName(COORDINATOR);
        } catch (ClassNotFoundException e) {
            return null;
        }
        Object made = Bare.of(type);
        Bare.set(type, made, "sourceStore", (MetadataStore) store);
        Bare.set(type, made, "targetUrl", HeldTarget.URL);
        Bare.set(type, made, "migrationStateCache",
                store.getMetadataCache(Class.forName("org.apache.pulsar.common.migration.MigrationState")));
        try {
            Object usual = HeldStore.field(made, "DEFAULT_PREPARATION_TIMEOUT"); // since 5.0; before it is in the code
            Bare.set(type, made, "preparationTimeout", (Duration) usual);
        } catch (NoSuchFieldException e) {
            // then there is nothing to set
        }
        return made;
    }

    boolean isPossible() {
        return coordinator != null;
    }

    String phase() {
        return completed ? "completed" : started ? "preparing" : "none";
    }

    boolean isComplete() {
        return completed;
    }

    /** The server with the nodes that are in force. */
    Server current() {
        return completed ? target : source;
    }

    void start() throws Exception {
        if (!isPossible()) {
            throw new Refused("this release has nothing that migrates the metadata");
        }
        call("setInitialMigrationPhase");
        started = true;
    }

    /** Waits until the coordinator takes all for prepared; false if it still waits, and this is to be asked again. */
    boolean isPrepared() throws Exception {
        if (preparation == null) {
            preparation = CompletableFuture.runAsync(() -> {
                try {
                    call("waitForPreparation");
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        try {
            preparation.get(LOOK_SECONDS, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new Refused("the coordinator gives up: " + e.getCause().getCause().getMessage());
        }
    }

    void copy() throws Exception {
        update("COPYING");
    }

    void complete() throws Exception {
        update("COMPLETED");
        completed = true;
    }

    /** Ends the servers, too, which are of this run alone. */
    void end() throws Exception {
        operator.close();
        for (Server each : new Server[] {source, target}) {
            each.close();
            each.zookeeper().shutdown();
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private void update(String phase) throws Exception {
        Class type = Class.forName("org.apache.pulsar.common.migration.MigrationPhase");
        call("updatePhase", Enum.valueOf(type, phase));
    }

    private void call(String name, Object... arguments) throws Exception {
        for (Method method : coordinator.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                method.setAccessible(true);
                try {
                    method.invoke(coordinator, arguments);
                    return;
                } catch (InvocationTargetException e) {
                    throw (Exception) e.getCause();
                }
            }
        }
        throw new NoSuchMethodException(name);
    }
}
