package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** The reads and the writes of records that a broker's store holds. */
final class RecordRequests {
    private final UnitBroker broker;
    /** Reads that were under way as the session was lost: by the time that they are answered all is read anew. */
    private final Set<Held> stale = new HashSet<>();

    RecordRequests(UnitBroker broker) {
        this.broker = broker;
    }

    /** Something that the code under test does. */
    interface Action {
        void take() throws Exception;
    }

    /** What is being read is of no use to the broker, for it forgets what it knew. */
    void becomeStale() {
        stale.addAll(broker.store.requests().stream().filter(each -> each.kind().equals(UnitRequests.READ)).toList());
    }

    /** The process has ended, and with it all that it was reading. */
    void forget() {
        stale.clear();
    }

    void sendStale() throws Exception {
        for (Held read : stale) {
            broker.store.send(read);
        }
        stale.clear();
    }

    /** The broker hears of what was written, and reads it; false if there is nothing. */
    boolean hear(String unit) throws Exception {
        String path = broker.path(unit);
        boolean news = broker.store.hasNews(path);
        broker.store.hear(path);
        broker.settle();
        List<Held> reads = reads(unit);
        for (Held read : reads) {
            broker.store.send(read);
        }
        return news || !reads.isEmpty();
    }

    /** Lets all writes of that name go; false if there is none. */
    boolean let(String unit, String name) throws Exception {
        List<Held> writes = named(unit, name);
        for (Held write : writes) {
            broker.store.send(write);
        }
        return !writes.isEmpty();
    }

    /** All writes of that name are answered with: the session is gone. */
    void fail(String unit, String name) throws Exception {
        for (Held write : named(unit, name)) {
            broker.store.fail(write);
        }
    }

    List<Held> reads(String unit) {
        return held(unit, true);
    }

    /** Whether the broker is about to read the node of a unit, also if it has lost its session since. */
    boolean isRead(String unit) {
        return broker.store.requests().stream()
                .anyMatch(each -> each.path().equals(broker.path(unit)) && each.kind().equals(UnitRequests.READ));
    }

    /** The names of the writes of a unit, in order. */
    List<String> writes(String unit) {
        return held(unit, false).stream().map(RecordRequests::name).distinct().sorted().toList();
    }

    private List<Held> named(String unit, String name) {
        return held(unit, false).stream().filter(each -> name(each).equals(name)).toList();
    }

    private List<Held> held(String unit, boolean reads) {
        return broker.store.requests().stream()
                .filter(each -> each.path().equals(broker.path(unit)) && each.kind().equals(UnitRequests.READ) == reads)
                .filter(each -> !stale.contains(each)).toList();
    }

    private static String name(Held write) {
        if (write.kind().equals(UnitRequests.DELETE)) {
            return write.kind();
        }
        try {
            JsonNode record = Lines.JSON.readTree(write.op().asPut().getData());
            return String.join(" ", "put", record.path("state").asText(), record.path("dstBroker").asText("nobody"),
                    record.path("sourceBroker").asText("nobody"), record.path("versionId").asText());
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Does something, and lets the writes of the unit go that come of it. */
    void writing(String unit, Action action) throws Exception {
        Set<Held> before = Set.copyOf(broker.store.requests());
        action.take();
        broker.settle();
        for (Held write : held(unit, false)) {
            if (!before.contains(write)) {
                broker.store.send(write);
            }
        }
    }

    /** The same on a thread of its own, which may wait until the broker has read what it has written. */
    void aside(String unit, Action action) throws Exception {
        writing(unit, () -> {
            List<Exception> failed = new ArrayList<>();
            Thread thread = Jobs.thread(() -> {
                try {
                    action.take();
                } catch (Exception e) {
                    failed.add(e);
                }
            }, "aside");
            thread.start();
            until(thread);
            if (!failed.isEmpty()) {
                throw failed.get(0);
            }
        });
    }

    /** Waits until a thread has ended, or waits itself. */
    static void until(Thread thread) throws Exception {
        Server.until("thread " + thread.getName(), () -> switch (thread.getState()) {
            case TERMINATED, WAITING, TIMED_WAITING -> true;
            default -> false;
        });
    }
}
