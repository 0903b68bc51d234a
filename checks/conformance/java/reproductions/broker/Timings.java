package fencepost;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.pulsar.broker.PulsarService;

/** Times, again and again, what a running broker needs for a hop to a connection's thread, an entry and a write of metadata. */
final class Timings implements Runnable {
    private static final int PAUSE_MILLIS = 25;
    private static final int MOST_SECONDS = 5;
    private static final byte[] ENTRY = new byte[100];

    private final PulsarService pulsar;
    private final LedgerHandle ledger;
    private final Map<String, List<Double>> found = new TreeMap<>();

    Timings(PulsarService pulsar) throws Exception {
        this.pulsar = pulsar;
        ledger = pulsar.getBookKeeperClient().createLedger(1, 1, BookKeeper.DigestType.CRC32C, new byte[0]);
        for (String each : List.of("journal", "metadata", "task")) {
            found.put(each, new CopyOnWriteArrayList<>());
        }
        var thread = new Thread(this, "timings");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        while (true) {
            time("task", () -> {
                var done = new CompletableFuture<Void>();
                pulsar.getIoEventLoopGroup().next().execute(() -> done.complete(null));
                return done;
            });
            time("journal", () -> {
                var done = new CompletableFuture<Void>();
                ledger.asyncAddEntry(ENTRY, (code, handle, entry, context) -> {
                    if (code == 0) {
                        done.complete(null);
                    } else {
                        done.completeExceptionally(new IllegalStateException("add failed"));
                    }
                }, null);
                return done;
            });
            time("metadata", () -> pulsar.getLocalMetadataStore().put("/timings", ENTRY, Optional.empty()));
            try {
                Thread.sleep(PAUSE_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private interface Timed {
        CompletableFuture<?> start();
    }

    /** What fails, or takes too long, is not among them: the session is lost now and then. */
    private void time(String name, Timed timed) {
        long begun = System.nanoTime();
        long[] end = new long[1];
        try {
            timed.start().thenRun(() -> end[0] = System.nanoTime()).get(MOST_SECONDS, TimeUnit.SECONDS);
            found.get(name).add((end[0] - begun) / 1e6);
        } catch (Exception e) {
            return;
        }
    }

    void tell(ObjectNode answer) {
        ObjectNode rows = answer.putObject("timings");
        found.forEach((name, times) -> times.forEach(rows.putArray(name)::add));
    }
}
