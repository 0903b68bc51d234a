package org.apache.bookkeeper.client;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.bookkeeper.client.api.WriteFlag;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;
import org.apache.bookkeeper.meta.LedgerIdGenerator;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookieAddressResolver;
import org.apache.bookkeeper.proto.BookieClient;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.GenericCallback;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.bookkeeper.client.BookKeeper.DigestType;

/** A client: the handles and operations are BookKeeper's, what connects them to the world is held. */
class GatedClient extends BookKeeper implements BookieWatcher {
    static final byte[] PASSWORD = "password".getBytes(StandardCharsets.UTF_8);

    final String name;
    final LedgerBench bench;
    final Reused reused;
    final StepExecutor executor;
    /** Whether something may have been handed to the scheduler, which has a thread. */
    boolean scheduled;
    /** The bookies that the next changes of ensemble are to bring in. */
    final Deque<BookieId> replacements = new ArrayDeque<>();

    LedgerHandle handle;
    Integer openCode;
    Integer closeCode;
    final Map<Long, Integer> addCodes = new TreeMap<>();

    private final LedgerManager ledgers;
    private final BookieClient bookies;
    private final EnsemblePlacementPolicy placement = new DefaultEnsemblePlacementPolicy();
    private static final BookKeeperClientStats STATS = BookKeeperClientStats.newInstance(NullStatsLogger.INSTANCE);
    private LedgerOpenOp opening;
    /** The add that has its ensemble, and has still to be queued. */
    private PendingAddOp taken;

    GatedClient(String name, LedgerBench bench) throws Exception {
        this.name = name;
        this.bench = bench;
        reused = bench.reused();
        executor = reused.executor;
        ledgers = bench.metadata.of(this);
        bookies = new HeldBookieClient(this);
    }

    // --- what the application does

    void create(int ensemble, int writeQuorum, int ackQuorum) {
        new LedgerCreateOp(this, ensemble, writeQuorum, ackQuorum, DigestType.CRC32C, PASSWORD, (rc, lh, c) -> opened(rc, lh), null,
                null, WriteFlag.NONE, STATS).initiate();
    }

    void recover() {
        opening = new LedgerOpenOp(this, STATS, bench.ledger, DigestType.CRC32C, PASSWORD, (rc, lh, c) -> opened(rc, lh), null);
        opening.initiate();
    }

    void openToRead() {
        openCode = null;
        handle = null;
        new LedgerOpenOp(this, STATS, bench.ledger, DigestType.CRC32C, PASSWORD, (rc, lh, c) -> opened(rc, lh), null)
                .initiateWithoutRecovery();
    }

    private void opened(int rc, LedgerHandle lh) {
        openCode = rc;
        handle = lh;
    }

    void add(long entry) {
        if (taken != null) {
            handle.doAsyncAddEntry(taken);
            taken = null;
            return;
        }
        handle.asyncAddEntry(payload(entry), (rc, lh, id, c) -> addCodes.put(entry, rc), null);
    }

    /** The first of the two things that LedgerHandle.asyncAddEntry does, in the thread that calls it; the second is doAsyncAddEntry. */
    void takeEnsemble(long entry) {
        taken = PendingAddOp.create(handle, context, handle.getCurrentEnsemble(), Unpooled.wrappedBuffer(payload(entry)),
                WriteFlag.NONE, (rc, lh, id, latency, c) -> addCodes.put(entry, rc), null);
    }

    private static byte[] payload(long entry) {
        return ("entry " + entry).getBytes(StandardCharsets.UTF_8);
    }

    void closeLedger() {
        handle.asyncClose((rc, lh, c) -> closeCode = rc, null);
    }

    void delete() {
        new LedgerDeleteOp(this, STATS, bench.ledger, (rc, c) -> closeCode = rc, null).initiate();
    }

    /** What the explicit-LAC flow does when its time has come (ExplicitLacUpdateFlow). */
    void sendExplicitLac() {
        long confirmed = handle.getLastAddConfirmed();
        PendingWriteLacOp op = new PendingWriteLacOp(handle, context, handle.getCurrentEnsemble(), (rc, lh, c) -> { }, null);
        op.setLac(confirmed);
        executor.execute(() -> op.initiate(handle.macManager.computeDigestAndPackageForSendingLac(confirmed)));
    }

    /** Sends the read of an entry to one more bookie, as speculation does; returns whether there was one left to ask. */
    boolean askOneMore(long entry) {
        boolean any = false;
        for (ReadOpBase.LedgerEntryRequest read : reused.reads) {
            if (read.eId == entry && !read.isComplete()) {
                executor.execute(() -> read.maybeSendSpeculativeRead(new BitSet()));
                any = true;
            }
        }
        return any;
    }

    /** The handle of a recovery while it is under way, too; null if there is none yet. */
    LedgerHandle current() {
        return handle != null ? handle : opening == null ? null : opening.lh;
    }

    // --- what surrounds the handles

    private final ClientContext context = new ClientContext() {
        @Override
        public ClientInternalConf getConf() {
            return reused.configuration;
        }

        @Override
        public LedgerManager getLedgerManager() {
            return ledgers;
        }

        @Override
        public BookieWatcher getBookieWatcher() {
            return GatedClient.this;
        }

        @Override
        public EnsemblePlacementPolicy getPlacementPolicy() {
            return placement;
        }

        @Override
        public BookieClient getBookieClient() {
            return bookies;
        }

        @Override
        public ByteBufAllocator getByteBufAllocator() {
            return UnpooledByteBufAllocator.DEFAULT;
        }

        @Override
        public OrderedExecutor getMainWorkerPool() {
            return executor;
        }

        @Override
        public OrderedScheduler getScheduler() {
            return bench.scheduler;
        }

        @Override
        public BookKeeperClientStats getClientStats() {
            return STATS;
        }

        @Override
        public boolean isClientClosed() {
            return false;
        }
    };

    @Override
    public ClientContext getClientCtx() {
        return context;
    }

    @Override
    public LedgerManager getLedgerManager() {
        return ledgers;
    }

    @Override
    public OrderedExecutor getMainWorkerPool() {
        return executor;
    }

    @Override
    OrderedScheduler getScheduler() {
        return bench.scheduler;
    }

    @Override
    BookieWatcher getBookieWatcher() {
        return this;
    }

    @Override
    public BookieClient getBookieClient() {
        return bookies;
    }

    @Override
    int getReturnRc(int rc) {
        return rc;
    }

    @Override
    LedgerIdGenerator getLedgerIdGenerator() {
        return new LedgerIdGenerator() {
            @Override
            public void generateLedgerId(GenericCallback<Long> callback) {
                callback.operationComplete(BKException.Code.OK, bench.ledger);
            }

            @Override
            public void close() {
            }
        };
    }

    // --- which bookies there are

    @Override
    public Set<BookieId> getBookies() {
        return new LinkedHashSet<>(bench.inUse());
    }

    @Override
    public Set<BookieId> getAllBookies() {
        return getBookies();
    }

    @Override
    public Set<BookieId> getReadOnlyBookies() {
        return Set.of();
    }

    @Override
    public BookieAddressResolver getBookieAddressResolver() {
        return null;
    }

    @Override
    public boolean isBookieUnavailable(BookieId bookie) {
        return false;
    }

    @Override
    public List<BookieId> newEnsemble(int ensemble, int writeQuorum, int ackQuorum, Map<String, byte[]> custom) {
        return bench.inUse().subList(0, ensemble);
    }

    @Override
    public BookieId replaceBookie(int ensemble, int writeQuorum, int ackQuorum, Map<String, byte[]> custom,
            List<BookieId> existing, int place, Set<BookieId> excluded) throws BKException.BKNotEnoughBookiesException {
        BookieId chosen = replacements.poll();
        if (chosen == null) {
            throw new BKException.BKNotEnoughBookiesException();
        }
        return chosen;
    }

    @Override
    public void quarantineBookie(BookieId bookie) {
    }

    @Override
    public void releaseAllQuarantinedBookies() {
    }
}
