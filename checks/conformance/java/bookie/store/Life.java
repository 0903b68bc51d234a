package org.apache.bookkeeper.bookie;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.bookie.Journal.ForceWriteRequest;
import org.apache.bookkeeper.bookie.Journal.QueueEntry;
import org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.discover.BookieServiceInfo;
import org.apache.bookkeeper.meta.NullMetadataBookieDriver;
import org.apache.bookkeeper.proto.Requests;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.bookkeeper.stats.StatsLogger;
import org.apache.bookkeeper.util.DiskChecker;
import org.apache.bookkeeper.util.collections.ConcurrentLongHashMap;

/**
 * One life of a bookie's process: BookieImpl as it is shipped, from its start to its end. What its journals write and sync, and
 * each checkpoint, is held until a step lets it go on.
 */
final class Life {
    private final ServerConfiguration conf;
    final BookieImpl bookie;
    final LedgerStorage storage;
    private final List<HeldJournal> journals = new ArrayList<>();
    private final Gate sync = new Gate();
    private final List<LedgerStorage> directories = new ArrayList<>();
    private final CacheFlush[] full;
    private final Thread starting;
    private volatile Thread stopping;
    private boolean movedByStorage;
    /**
     * Who takes a checkpoint as a step. Others are left out: the second of the two that an InterleavedLedgerStorage asks for when
     * an entry log is rotated, for it listens twice, and the one that the save of a SortedLedgerStorage asks for likewise.
     */
    private volatile Thread taking;
    private Requests requests;
    /** Requests that wait in the midst of it, by ledger and entry. */
    private final Map<List<Long>, Apart> apart = new HashMap<>();

    /** Loads what is saved; begins nothing yet. */
    Life(ServerConfiguration conf) throws Exception {
        this.conf = conf;
        for (File folder : conf.getJournalDirs()) {
            BookieImpl.checkDirectoryStructure(BookieImpl.getCurrentDirectory(folder));
        }
        for (File folder : conf.getLedgerDirs()) {
            BookieImpl.checkDirectoryStructure(BookieImpl.getCurrentDirectory(folder));
        }
        StatsLogger stats = NullStatsLogger.INSTANCE;
        ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        NullMetadataBookieDriver metadata = new NullMetadataBookieDriver();
        DiskChecker disks = BookieResources.createDiskChecker(conf);
        LedgerDirsManager ledgers = BookieResources.createLedgerDirsManager(conf, disks, stats);
        LedgerDirsManager indexes = BookieResources.createIndexDirsManager(conf, disks, stats, ledgers);
        storage = BookieResources.createLedgerStorage(conf, metadata.getLedgerManagerFactory().newLedgerManager(), ledgers,
                indexes, stats, allocator);
        bookie = new BookieImpl(conf, metadata.createRegistrationManager(), storage, disks, ledgers, indexes, stats, allocator,
                () -> new BookieServiceInfo(Map.of(), List.of()));
        Apart.watch(bookie);
        List<CheckpointSource> sources = new ArrayList<>();
        for (Journal each : bookie.journals) {
            journals.add(new HeldJournal(each));
            sources.add(sources.isEmpty() ? each : proxy(CheckpointSource.class, each, this::passesBetweenJournals));
        }
        CheckpointSource source = new CheckpointSourceList(sources);
        set(bookie.syncThread, SyncThread.class, "checkpointSource", proxy(CheckpointSource.class, source, this::marksBySync));
        set(bookie.syncThread, SyncThread.class, "ledgerStorage", proxy(LedgerStorage.class, storage, this::savesBySync));
        if (storage instanceof DbLedgerStorage) {
            storage.setCheckpointSource(proxy(CheckpointSource.class, source, this::passesInStorage));
            for (Object each : (List<?>) get(storage, DbLedgerStorage.class, "ledgerStorageList")) {
                directories.add((LedgerStorage) each);
            }
        }
        storage.setCheckpointer(new Checkpointer() {
            @Override
            public void startCheckpoint(CheckpointSource.Checkpoint checkpoint) {
                if (Thread.currentThread() == taking) {
                    taking = null;
                    bookie.syncThread.startCheckpoint(checkpoint);
                }
            }

            @Override
            public void start() {
                bookie.syncThread.start();
            }
        });
        full = new CacheFlush[directories.size()];
        starting = new Thread(bookie::start, "starting");
    }

    private static void set(Object owner, Class<?> of, String field, Object value) throws ReflectiveOperationException {
        Field found = of.getDeclaredField(field);
        found.setAccessible(true);
        found.set(owner, value);
    }

    private static Object get(Object owner, Class<?> of, String field) throws ReflectiveOperationException {
        Field found = of.getDeclaredField(field);
        found.setAccessible(true);
        return found.get(owner);
    }

    // --- what is held

    /** A journal that writes and syncs only when it is let. */
    private static final class HeldJournal {
        private final HeldQueue<QueueEntry> logged = new HeldQueue<>();
        private final HeldQueue<ForceWriteRequest> written = new HeldQueue<>();
        private final Journal journal;

        HeldJournal(Journal journal) throws ReflectiveOperationException {
            this.journal = journal;
            set(journal, Journal.class, "queue", logged);
            journal.setForceWriteRequests(written);
        }
    }

    /** What is done before and after each call of a method of an interface. */
    private interface Around {
        void call(String method, boolean before);
    }

    private static <T> T proxy(Class<T> of, T real, Around around) {
        return of.cast(Proxy.newProxyInstance(of.getClassLoader(), new Class<?>[] {of}, (self, method, arguments) -> {
            around.call(method.getName(), true);
            try {
                Object result = method.invoke(real, arguments);
                around.call(method.getName(), false);
                return result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    /** A checkpoint that is taken as a step waits before it reads how far the second journal is. */
    private void passesBetweenJournals(String method, boolean before) {
        if (!before || !method.equals("newCheckpoint")) {
            return;
        }
        if (Thread.currentThread() instanceof CacheFlush) {
            ((CacheFlush) Thread.currentThread()).readsSecond();
        } else if (Thread.currentThread() == taking) {
            taking = null;
            sync.pass(Gate.SECOND);
        }
    }

    /** SyncThread waits before the storage saves. */
    private void savesBySync(String method, boolean before) {
        if (before && (method.equals("checkpoint") || method.equals("flush"))) {
            sync.pass(Gate.SAVE);
        }
    }

    /** SyncThread waits before the log mark moves; where the storage has moved it on SyncThread already, it has waited. */
    private void marksBySync(String method, boolean before) {
        if (before && method.equals("checkpointComplete") && !movedByStorage) {
            sync.pass(Gate.MARK);
        }
        movedByStorage &= before;
    }

    /** A DbLedgerStorage that is flushed moves the log mark by itself, whoever flushes it; when it is shut down nothing waits. */
    private void passesInStorage(String method, boolean before) {
        if (Thread.currentThread() instanceof CacheFlush) {
            ((CacheFlush) Thread.currentThread()).passes(method, before);
        } else if (before && method.equals("checkpointComplete") && Thread.currentThread() != stopping) {
            sync.pass(Gate.MARK);
            movedByStorage = true;
        }
    }

    /** A directory whose write cache is full saves itself, in a thread of its own; it waits like SyncThread. */
    private static final class CacheFlush extends Thread {
        private final Gate gate = new Gate();
        private boolean taken;
        private boolean second;

        CacheFlush(LedgerStorage directory) {
            super(() -> {
                try {
                    directory.flush();
                } catch (Gate.Gone | IOException e) {
                    // with its process, or as a flush that failed: the storage only logs it
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "full cache");
            setDaemon(true);
        }

        void readsSecond() {
            if (!second) {
                second = true;
                gate.pass(Gate.SECOND);
            }
        }

        void passes(String method, boolean before) {
            if (!before && method.equals("newCheckpoint") && !taken) {
                taken = true; // the storage takes a second one, for itself
                gate.pass(Gate.SAVE);
            } else if (before && method.equals("checkpointComplete")) {
                gate.pass(Gate.MARK);
            }
        }
    }

    // --- the process

    private static void await(Thread ending) throws InterruptedException {
        ending.join(TimeUnit.SECONDS.toMillis(Gate.SECONDS));
        if (ending.isAlive()) {
            throw new IllegalStateException(ending.getName() + " does not end");
        }
    }

    /** The bookie starts; returns when the journal is replayed, false if it does not start. */
    boolean replays() throws Exception {
        starting.start();
        return sync.arrives(Gate.SAVE, starting);
    }

    /** What was replayed is saved: the bookie serves. */
    void serves() throws Exception {
        sync.let(Gate.MARK);
        await(starting);
        for (HeldJournal each : journals) {
            each.logged.awaitTaker();
            each.written.awaitTaker();
        }
        requests = new Requests(conf, bookie);
    }

    /** A stop begins; returns when it is about to save. */
    void stops() throws Exception {
        requests.close();
        requests = null;
        stopping = new Thread(bookie::shutdown, "stopping");
        stopping.start();
        sync.arrives(Gate.SAVE, stopping);
    }

    /** A stop that has saved comes to its end. */
    void ends() throws Exception {
        apart.values().forEach(Apart::abandon);
        for (CacheFlush each : full) {
            if (each != null) {
                each.gate.abandon();
                await(each);
            }
        }
        sync.let(Gate.MARK);
        await(stopping);
    }

    /** The process is no more: what is left of it is ended. It writes to its folder once more, which nobody must look at. */
    void buried() throws Exception {
        apart.values().forEach(Apart::abandon);
        if (requests != null) {
            requests.close();
        }
        sync.abandon();
        for (CacheFlush each : full) {
            if (each != null) {
                each.gate.abandon();
                await(each);
            }
        }
        await(starting);
        if (stopping != null) {
            await(stopping);
        }
        bookie.shutdown();
    }

    // --- two requests at once

    /** An add of the writer finds that the ledger is not fenced, and waits there. */
    void checksFence(long ledger, long entry, byte[] key, ByteBuf body) throws Exception {
        Runnable add = requests.addApart(false, ledger, entry, key, body);
        apart.put(List.of(ledger, entry), Apart.begin(bookie, ledger, key, Apart.CHECKED, add::run));
    }

    /** An add that has found that the ledger is not fenced goes on. */
    void addsChecked(long ledger, long entry) throws Exception {
        apart.remove(List.of(ledger, entry)).ends(Apart.CHECKED);
    }

    /** A fencing read arrives; false if it waits for an add that is under way. */
    boolean fences(long ledger, byte[] key) throws Exception {
        return requests().fence(ledger, key, apart.isEmpty() ? Gate.SECONDS : Apart.SECONDS);
    }

    /**
     * Two requests add the first entry of a ledger: one of them is to log the master key, and does so when the other has logged
     * the entry. Before its own record it waits until the process is gone.
     */
    void addsWithKeyLast(long ledger, long entry, byte[] key, ByteBuf body, ByteBuf writtenBack) throws Exception {
        Runnable first = requests.addApart(true, ledger, entry, key, writtenBack);
        Apart waits = Apart.begin(bookie, ledger, key, Apart.LOG, first::run);
        apart.put(List.of(ledger, entry), waits);
        waits.besides("the add", () -> requests.add(false, ledger, entry, key, body));
        waits.goesOn(Apart.LOG, Apart.LOG);
    }

    // --- the journal and the checkpoints

    void writes(int number) throws Exception {
        journals.get(number).logged.release();
    }

    void syncs(int number) throws Exception {
        journals.get(number).written.release();
        requestsSettle();
    }

    private void requestsSettle() throws Exception {
        if (requests != null) {
            requests.settle();
        }
    }

    void takesCheckpoint() throws Exception {
        SyncThread thread = bookie.syncThread;
        if (journals.size() > 1) {
            thread.executor.submit(() -> {
                taking = Thread.currentThread();
                thread.doCheckpoint(thread.checkpointSource.newCheckpoint());
            });
            sync.arrives(Gate.SECOND, null);
            return;
        }
        if (storage instanceof DbLedgerStorage) {
            thread.doCheckpoint(thread.checkpointSource.newCheckpoint());
        } else if (storage instanceof InterleavedLedgerStorage) {
            EntryLogManagerBase logs = (EntryLogManagerBase) ((InterleavedLedgerStorage) storage).entryLogger.getEntryLogManager();
            taking = Thread.currentThread();
            logs.createNewLog(DefaultEntryLogger.UNASSIGNED_LEDGERID);
        } else {
            thread.startCheckpoint(thread.checkpointSource.newCheckpoint());
        }
        sync.arrives(Gate.SAVE, null);
    }

    void fillsCache(int directory) throws Exception {
        full[directory] = new CacheFlush(directories.get(directory));
        full[directory].start();
        full[directory].gate.arrives(journals.size() > 1 ? Gate.SECOND : Gate.SAVE, full[directory]);
    }

    /** The checkpoint of a directory, or of SyncThread (-1), reads how far the second journal is. */
    void readsSecondJournal(int directory) throws Exception {
        Gate gate = gate(directory);
        gate.let(Gate.SECOND);
        gate.arrives(Gate.SAVE, directory < 0 ? null : full[directory]);
    }

    /** The checkpoint of a directory, or of SyncThread (-1), saves. */
    void saves(int directory) throws Exception {
        Gate gate = gate(directory);
        gate.let(Gate.SAVE);
        gate.arrives(Gate.MARK, directory < 0 ? null : full[directory]);
        for (LedgerStorage each : directories) { // which delete collected ledgers in a thread of their own
            ((ExecutorService) get(each, each.getClass(), "cleanupExecutor")).submit(() -> { }).get(Gate.SECONDS, TimeUnit.SECONDS);
        }
    }

    /** The checkpoint of a directory, or of SyncThread (-1), is about to save, and the flush of the entry log fails: it ends. */
    void failsToSave(int directory) throws Exception {
        try (FailingFlush fails = new FailingFlush(directories.get(Math.max(directory, 0)))) {
            endsWithoutMark(directory);
        }
    }

    /** The checkpoint saves the entries, and then the index of ledgers cannot write what it has of one: the checkpoint ends. */
    void failsToSaveIndex(int directory, long ledger) throws Exception {
        try (FailingIndex fails = new FailingIndex(directories.get(Math.max(directory, 0)), ledger)) {
            endsWithoutMark(directory);
        }
    }

    private void endsWithoutMark(int directory) throws Exception {
        gate(directory).let(Gate.SAVE);
        if (directory < 0) {
            bookie.syncThread.executor.submit(() -> { }).get(Gate.SECONDS, TimeUnit.SECONDS);
        } else {
            await(full[directory]);
            full[directory] = null;
        }
    }

    /** The checkpoint of a directory, or of SyncThread (-1), is done. */
    void marks(int directory) throws Exception {
        Gate gate = gate(directory);
        if (directory < 0) {
            gate.let(Gate.MARK);
            bookie.syncThread.executor.submit(() -> { }).get(Gate.SECONDS, TimeUnit.SECONDS);
            return;
        }
        if (full[directory].isAlive()) { // one of several directories is done without
            gate.let(Gate.MARK);
            await(full[directory]);
        }
        full[directory] = null;
    }

    private Gate gate(int directory) {
        return directory < 0 ? sync : full[directory].gate;
    }

    // --- what can be seen

    Requests requests() {
        if (requests == null) {
            throw new IllegalStateException("the bookie does not serve");
        }
        return requests;
    }

    /** How far the process is: {@code replayed}, {@code up} or {@code stopping}. */
    String stage() {
        return serving() ? "up" : stopping != null ? "stopping" : "replayed";
    }

    boolean serving() {
        return requests != null && bookie.isRunning();
    }

    int directories() {
        return directories.size();
    }

    /** How far a checkpoint is: {@code none}, {@code begun}, {@code taken} or {@code saved}. */
    String checkpoint(int directory) {
        if (directory >= 0 && full[directory] == null) {
            return "none";
        }
        String at = gate(directory).at();
        if (Gate.SECOND.equals(at)) {
            return "begun";
        }
        return Gate.SAVE.equals(at) ? "taken" : Gate.MARK.equals(at) || directory >= 0 ? "saved" : "none";
    }

    /** Whether something is in the write cache of a directory; only a DbLedgerStorage has them. */
    boolean dirty(int directory) throws Exception {
        LedgerStorage of = directories.get(directory);
        Object cache = get(of, of.getClass(), "writeCache");
        return !(boolean) cache.getClass().getMethod("isEmpty").invoke(cache);
    }

    /** The ledgers that have index pages in memory; a DbLedgerStorage has none. */
    Set<Long> paged() throws Exception {
        if (storage instanceof DbLedgerStorage) {
            return Set.of();
        }
        Object pages = get(pages(), IndexInMemPageMgr.class, "pageMapAndList");
        return Set.copyOf(((Map<Long, ?>) get(pages, pages.getClass(), "pages")).keySet());
    }

    private IndexInMemPageMgr pages() throws ReflectiveOperationException {
        Object interleaved = storage instanceof SortedLedgerStorage
                ? get(storage, SortedLedgerStorage.class, "interleavedLedgerStorage") : storage;
        return ((LedgerCacheImpl) ((InterleavedLedgerStorage) interleaved).ledgerCache).getIndexPageManager();
    }

    /** Other ledgers take the index pages of all but these, which are clean: reads have brought them. */
    void unpage(Set<Long> others) throws Exception {
        for (long ledger : paged()) {
            if (!others.contains(ledger)) {
                pages().removePagesForLedger(ledger);
            }
        }
    }

    // --- collected ledgers and entry logs

    /** The entry logs of the only directory. */
    EntryLogs logs() throws Exception {
        return new EntryLogs(directories.get(0));
    }

    /** Whether the bookie has a descriptor of the ledger in memory. */
    boolean hasDescriptor(long ledger) throws Exception {
        return descriptors().containsKey(ledger);
    }

    /** The bookie has no descriptor of the ledger in memory, as before it was looked at. */
    void forgetsDescriptor(long ledger) throws Exception {
        descriptors().remove(ledger);
    }

    private ConcurrentLongHashMap<?> descriptors() throws ReflectiveOperationException {
        return (ConcurrentLongHashMap<?>) get(handles(), HandleFactoryImpl.class, "ledgers");
    }

    private Object handles() throws ReflectiveOperationException {
        return get(bookie, BookieImpl.class, "handles");
    }

    /** Whether the bookie refuses the ledger, because it was collected while the bookie had a descriptor of it. */
    boolean refuses(long ledger) throws Exception {
        for (Field field : HandleFactoryImpl.class.getDeclaredFields()) {
            if (field.getName().equals("recentlyFencedAndDeletedLedgers")) {
                Object cache = get(handles(), HandleFactoryImpl.class, field.getName());
                return ((com.google.common.cache.Cache<?, ?>) cache).asMap().containsKey(ledger);
            }
        }
        return false; // before 4.16.7 and 4.17.2
    }

    Records.Place synced(int number) {
        return new Records.Place(journals.get(number).journal.getLastLogMark());
    }

    List<String> unwritten(int number) {
        return Records.of(journals.get(number).logged.held());
    }

    boolean knowsKey(long ledger) throws Exception {
        Object keys = get(bookie, BookieImpl.class, "masterKeyCache");
        return keys.getClass().getMethod("get", long.class).invoke(keys, ledger) != null;
    }

    boolean has(long ledger, long entry) throws Exception {
        try {
            ByteBuf bytes = storage.getEntry(ledger, entry);
            if (bytes == null) {
                return false;
            }
            bytes.release();
            return true;
        } catch (Bookie.NoLedgerException | Bookie.NoEntryException e) {
            return false;
        }
    }
}
