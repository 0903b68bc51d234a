package org.apache.bookkeeper.client;

import fencepost.Gate;
import fencepost.Refused;
import fencepost.Server;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.bookie.CompactableLedgerStorage;
import org.apache.bookkeeper.bookie.ScanAndCompareGarbageCollector;
import org.apache.bookkeeper.client.api.LedgerMetadata;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.bookkeeper.versioning.Versioned;

/**
 * One pass of a bookie's ScanAndCompareGarbageCollector over the ledger of the run. It has a thread of its own, and its lock a session
 * of its own. It waits before the second time that it reads the metadata ("look"), and before it deletes ("collect").
 */
final class Collector {
    private static final String GIVEN_UP = "given up";
    private static final String NOW = "now";
    private final Gate gate = new Gate();
    private final Thread thread;
    private final LedgerBench bench;
    private final RealBookie bookie;
    private final Server server;
    private final Set<Long> sessions;
    private int reads;

    Collector(LedgerBench bench, RealBookie bookie, ServerConfiguration workers, Server server) throws Exception {
        this.bench = bench;
        this.bookie = bookie;
        this.server = server;
        Set<Long> before = server.sessions();
        ServerConfiguration conf = new ServerConfiguration(workers);
        conf.setBookieId(bookie.id.getId());
        conf.setGcOverreplicatedLedgerWaitTime(1, TimeUnit.MILLISECONDS);
        ScanAndCompareGarbageCollector collector = new ScanAndCompareGarbageCollector(metadata(), storage(), conf,
                NullStatsLogger.INSTANCE);
        long made = System.currentTimeMillis();
        Server.until("time for the next pass", () -> System.currentTimeMillis() > made + 1);
        thread = new Thread(() -> collector.gc(this::delete), "collector of " + bookie.id);
        thread.start();
        settle();
        sessions = new HashSet<>(server.sessions());
        sessions.removeAll(before);
    }

    private CompactableLedgerStorage storage() {
        return (CompactableLedgerStorage) Proxy.newProxyInstance(Collector.class.getClassLoader(),
                new Class<?>[] {CompactableLedgerStorage.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("getActiveLedgersInRange")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return bookie.knows(bench.ledger) ? Set.of(bench.ledger) : Set.of();
                });
    }

    private LedgerManager metadata() {
        return (LedgerManager) Proxy.newProxyInstance(Collector.class.getClassLoader(), new Class<?>[] {LedgerManager.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "readLedgerMetadata":
                            return read();
                        case "getLedgerRanges":
                            return ranges();
                        default:
                            throw new UnsupportedOperationException(method.getName());
                    }
                });
    }

    private CompletableFuture<Versioned<LedgerMetadata>> read() throws Exception {
        CompletableFuture<Versioned<LedgerMetadata>> answer = new CompletableFuture<>();
        if (++reads == 2 && gate.pass("look").equals(GIVEN_UP)) {
            answer.completeExceptionally(new BKException.MetaStoreException());
        } else {
            answer.complete(bench.metadata.of(bench.ledger));
        }
        return answer;
    }

    /** The ledger is not deleted: the metadata store lists it. */
    private LedgerManager.LedgerRangeIterator ranges() {
        return new LedgerManager.LedgerRangeIterator() {
            private boolean listed;

            @Override
            public boolean hasNext() {
                return !listed;
            }

            @Override
            public LedgerManager.LedgerRange next() {
                listed = true;
                return new LedgerManager.LedgerRange(new TreeSet<>(Set.of(bench.ledger)));
            }
        };
    }

    /** What GarbageCollectorThread has the collector do with such a ledger. */
    private void delete(long ledger) {
        try {
            if (gate.pass("collect").equals(GIVEN_UP)) {
                throw new IllegalStateException(GIVEN_UP);
            }
            bookie.storage().deleteLedger(ledger);
        } catch (java.io.IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void settle() throws Exception {
        Server.until("collector", () -> gate.at() != null || !thread.isAlive());
    }

    /** What it waits for; null once it has ended. */
    String waitsFor() {
        return gate.at();
    }

    void goOn(String from) throws Exception {
        if (!from.equals(gate.at())) {
            throw new Refused("the collector waits for " + gate.at());
        }
        gate.open(NOW);
        settle();
    }

    /** Its bookie is gone, and with it the session of the lock. */
    void end() throws Exception {
        if (gate.at() != null) {
            gate.open(GIVEN_UP);
        }
        thread.join();
    }

    /** Whether its session is that one. */
    boolean has(long session) {
        return thread.isAlive() && server.has(session) && sessions.contains(session);
    }
}
