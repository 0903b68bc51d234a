package org.apache.bookkeeper.client;

import com.google.common.cache.Cache;
import fencepost.Folders;
import fencepost.SmallBookie;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.bookkeeper.bookie.Apart;
import org.apache.bookkeeper.bookie.Bookie;
import org.apache.bookkeeper.bookie.BookieException;
import org.apache.bookkeeper.bookie.BookieImpl;
import org.apache.bookkeeper.bookie.BookieResources;
import org.apache.bookkeeper.bookie.FailingFlush;
import org.apache.bookkeeper.bookie.LedgerDirsManager;
import org.apache.bookkeeper.bookie.LedgerStorage;
import org.apache.bookkeeper.bookie.SortedLedgerStorage;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.discover.BookieServiceInfo;
import org.apache.bookkeeper.meta.NullMetadataBookieDriver;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookieProtocol;
import org.apache.bookkeeper.proto.checksum.DigestManager;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.bookkeeper.util.DiskChecker;
import org.apache.bookkeeper.util.collections.ConcurrentLongHashMap;

/** A bookie as it is shipped, without its network: BookieImpl over a journal and a ledger storage in a folder. */
final class RealBookie {
    /** Of the bytes of an entry: ledger, entry and last add confirmed are eight bytes each, and so is the length. */
    private static final int LAST_ADD_CONFIRMED_AT = 16;
    private static final int HEADER = 32;
    /** Of the bytes of an explicit last add confirmed: after the ledger. */
    private static final int EXPLICIT_AT = 8;

    /** Ends what is left of bookies that were killed, which takes a flush of theirs that nobody sees. */
    private static final ExecutorService UNDERTAKER = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "undertaker");
        thread.setDaemon(true);
        return thread;
    });

    final BookieId id;
    private final File root;
    private final String storageClass;
    private File folder;
    private boolean synced;
    private int kills;
    private BookieImpl bookie;
    /** Its HandleFactoryImpl. */
    private Object handles;
    private Cache<?, ?> deletedWhenFenced;
    /** Requests that wait in the midst of it. */
    private final List<Apart> apart = new ArrayList<>();
    /** Whether anything has reached the bookie since it was last looked at. */
    boolean touched = true;

    RealBookie(String name, File root, String storageClass, boolean synced) throws Exception {
        this.synced = synced;
        this.id = BookieId.parse(name);
        this.root = root;
        this.storageClass = storageClass;
        this.folder = new File(root, name);
        start();
    }

    /** A run begins: the bookie is up. Only a synced journal's log mark moves with what is written to it. */
    void begin(boolean toSync) throws Exception {
        if (isUp() && synced != toSync) {
            stop();
        }
        synced = toSync;
        if (!isUp()) {
            start();
        }
    }

    boolean isUp() {
        return bookie != null;
    }

    /** The bookie, for whatever may change it. */
    BookieImpl running() {
        touched = true;
        return seen();
    }

    private BookieImpl seen() {
        if (bookie == null) {
            throw new IllegalStateException(id + " is down");
        }
        return bookie;
    }

    LedgerStorage storage() {
        return running().getLedgerStorage();
    }

    void start() throws Exception {
        ServerConfiguration conf = configuration();
        BookieImpl.checkDirectoryStructure(new File(folder, "journal/current"));
        BookieImpl.checkDirectoryStructure(new File(folder, "ledgers/current"));
        NullStatsLogger stats = NullStatsLogger.INSTANCE;
        ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        NullMetadataBookieDriver metadata = new NullMetadataBookieDriver();
        DiskChecker disks = BookieResources.createDiskChecker(conf);
        LedgerDirsManager ledgers = BookieResources.createLedgerDirsManager(conf, disks, stats);
        LedgerDirsManager indexes = BookieResources.createIndexDirsManager(conf, disks, stats, ledgers);
        LedgerStorage storage = BookieResources.createLedgerStorage(conf, metadata.getLedgerManagerFactory().newLedgerManager(),
                ledgers, indexes, stats, allocator);
        BookieImpl made = new BookieImpl(conf, metadata.createRegistrationManager(), storage, disks, ledgers, indexes, stats,
                allocator, () -> new BookieServiceInfo(Map.of(), List.of()));
        Apart.watch(made);
        Apart.watchJournals(made);
        made.start();
        handles = field(BookieImpl.class, "handles").get(made);
        deletedWhenFenced = (Cache<?, ?>) field(handles.getClass(), "recentlyFencedAndDeletedLedgers").get(handles);
        bookie = made;
        touched = true;
    }

    private static Field field(Class<?> of, String name) throws NoSuchFieldException {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /**
     * What a killed process leaves: the files as they are at this moment. The instance cannot be stopped without writing more, so
     * it does that in the old folder, and the bookie restarts in a copy.
     */
    void kill() throws Exception {
        File copy = another();
        Folders.copy(folder, copy);
        abandon(copy);
    }

    private File another() {
        return new File(root, id + "-" + ++kills);
    }

    /** The bookie is down, and has that folder when it starts again. */
    private void abandon(File next) {
        BookieImpl stopped = running();
        endApart();
        File left = folder;
        bookie = null;
        folder = next;
        UNDERTAKER.execute(() -> {
            stopped.shutdown();
            Folders.delete(left);
        });
    }

    /** A checkpoint, as one comes by time, or as the process is stopped (SyncThread.flush). */
    void flush() throws Exception {
        Field thread = field(BookieImpl.class, "syncThread");
        Method request = thread.getType().getDeclaredMethod("requestFlush");
        request.setAccessible(true);
        ((Future<?>) request.invoke(thread.get(running()))).get(20, TimeUnit.SECONDS);
    }

    /** A checkpoint whose flush of the entry log fails. */
    void failToFlush() throws Exception {
        try (FailingFlush fails = FailingFlush.of(running())) {
            flush();
        }
    }

    /** A request begins in a thread of its own, with another one for the ledger beside it, and waits at a place. */
    Apart apart(long ledger, byte[] key, String place, Apart.Work work) throws Exception {
        Apart begun = Apart.begin(running(), ledger, key, place, work);
        apart.add(begun);
        return begun;
    }

    /** A request is handled; if others are under way, beside these. Refused if it waits for them. */
    void handle(String request, Apart.Work work) throws Exception {
        apart.removeIf(each -> !each.isAlive());
        if (apart.isEmpty()) {
            work.run();
        } else {
            apart.get(0).besides(request, work);
        }
    }

    private void endApart() {
        apart.forEach(Apart::abandon);
        apart.clear();
    }

    /** A clean stop, which flushes. */
    void stop() {
        BookieImpl stopped = running();
        endApart();
        bookie = null;
        stopped.shutdown();
    }

    /**
     * Comes back with only the entries of a ledger below {@code keep}. What the data integrity check then does before it lets a
     * bookie start (DataIntegrityCheckImpl.runPreBootCheck) is done here: the ledger is fenced, and in limbo.
     */
    void lose(long ledger, long keep, byte[] key) throws Exception {
        for (ByteBuf bytes : restartedWith(ledger, LongStream.range(0, keep))) {
            CompletableFuture<Integer> written = new CompletableFuture<>();
            running().recoveryAddEntry(bytes, (rc, l, e, b, c) -> written.complete(rc), null, key);
            written.get(20, TimeUnit.SECONDS);
        }
        storage().setMasterKey(ledger, key);
        storage().setFenced(ledger);
        storage().setLimboState(ledger);
    }

    /** Starts in another folder, with nothing; returns those of these entries that it had. */
    private List<ByteBuf> restartedWith(long ledger, LongStream entries) throws Exception {
        List<ByteBuf> kept = new ArrayList<>();
        for (long entry : entries.toArray()) {
            ByteBuf bytes = raw(ledger, entry);
            if (bytes != null) {
                kept.add(Unpooled.copiedBuffer(bytes));
                bytes.release();
            }
        }
        abandon(another());
        start();
        return kept;
    }

    /**
     * The disk is lost, and an empty one is in its place, without the data integrity check. The bookie starts only if the operator
     * has deleted its cookie; the check is the release's (LegacyCookieValidation).
     */
    void wipe(boolean deleted) throws Exception {
        abandon(another());
        Cookies cookies = new Cookies(configuration());
        cookies.stampAndWipe();
        if (deleted) {
            cookies.delete();
        }
        if (cookies.allow()) {
            start();
        }
    }

    /** The bookie is gone with its disk. */
    void loseDisk() {
        abandon(another());
    }

    /** The bookie loses one entry of the ledger, and is as before in all else: what its storage and its memory have of it. */
    void loseEntry(long ledger, long lost, int entries, byte[] key) throws Exception {
        boolean wasLoaded = loaded(ledger);
        List<ByteBuf> kept = restartedWith(ledger, LongStream.range(0, entries).filter(entry -> entry != lost));
        storage().setMasterKey(ledger, key);
        for (ByteBuf bytes : kept) {
            storage().addEntry(bytes);
        }
        if (wasLoaded) {
            Method load = handles.getClass().getDeclaredMethod("getHandle", long.class, byte[].class, boolean.class);
            load.setAccessible(true);
            load.invoke(handles, ledger, key, false);
        }
    }

    private ServerConfiguration configuration() {
        ServerConfiguration conf = SmallBookie.in(folder, id.getId(), storageClass, "ledgers");
        conf.setJournalSyncData(synced); // a kill of the process loses nothing that was written, synced or not
        return conf;
    }

    // --- what can be seen; asked of the storage, because the bookie's own reads keep handles

    private LedgerStorage kept() {
        return seen().getLedgerStorage();
    }

    /** Whether the bookie has heard of the ledger. */
    boolean knows(long ledger) throws Exception {
        return kept().ledgerExists(ledger);
    }

    Set<Long> stored(long ledger, int entries) throws Exception {
        Set<Long> found = new TreeSet<>();
        for (long entry = 0; knows(ledger) && entry < entries; entry++) {
            ByteBuf bytes = raw(ledger, entry);
            if (bytes != null) {
                bytes.release();
                found.add(entry);
            }
        }
        return found;
    }

    /** The entries whose digest does not match. */
    Set<Long> rotten(long ledger, int entries, DigestManager digests) throws Exception {
        Set<Long> found = new TreeSet<>();
        for (long entry : stored(ledger, entries)) {
            ByteBuf bytes = raw(ledger, entry);
            try {
                digests.verifyDigestAndReturnData(entry, bytes);
            } catch (BKException.BKDigestMatchException e) {
                found.add(entry);
            } finally {
                bytes.release();
            }
        }
        return found;
    }

    /** Whether an add of the writer would be refused: the ledger is fenced, or was when it was deleted. */
    boolean fenced(long ledger) throws Exception {
        try {
            return knows(ledger) && kept().isFenced(ledger) || refuses(ledger);
        } catch (Bookie.NoLedgerException e) {
            return false; // collected, and known still by an entry in the memory table
        }
    }

    /** Whether the bookie has the ledger's descriptor in memory: a client has added to the ledger since it started. */
    boolean loaded(long ledger) throws Exception {
        return ((ConcurrentLongHashMap<?>) field(handles.getClass(), "ledgers").get(handles)).containsKey(ledger);
    }

    /** Whether the bookie refuses the ledger, because it has deleted it. */
    boolean refuses(long ledger) {
        return deletedWhenFenced.getIfPresent(ledger) != null;
    }

    boolean limbo(long ledger) throws Exception {
        try {
            return knows(ledger) && kept().hasLimboState(ledger);
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    /** The last add confirmed that the last entry carries, which is what a read of it hears; -1 without an entry. */
    long lastAddConfirmed(long ledger) throws Exception {
        ByteBuf last = knows(ledger) ? raw(ledger, BookieProtocol.LAST_ADD_CONFIRMED) : null;
        if (last == null) {
            return -1;
        }
        long confirmed = last.getLong(last.readerIndex() + LAST_ADD_CONFIRMED_AT);
        last.release();
        return confirmed;
    }

    /** The last add confirmed that the bookie was told without an entry; -1 if none was. */
    long explicitLac(long ledger) throws Exception {
        ByteBuf told = knows(ledger) && !limbo(ledger) ? kept().getExplicitLac(ledger) : null;
        return told == null || !told.isReadable() ? -1 : told.getLong(told.readerIndex() + EXPLICIT_AT);
    }

    /** The bytes of an entry; null if there is none, or none that the bookie would give. */
    ByteBuf raw(long ledger, long entry) {
        try {
            return kept().getEntry(ledger, entry);
        } catch (IOException | BookieException e) {
            return null;
        }
    }

    /** Spoils the bookie's copy of an entry: the last byte of its payload, so that the digest does not match. */
    void spoil(long ledger, long entry) throws Exception {
        ByteBuf bytes = raw(ledger, entry);
        ByteBuf spoiled = Unpooled.copiedBuffer(bytes);
        bytes.release();
        int last = spoiled.writerIndex() - 1;
        if (last < HEADER) {
            throw new IllegalStateException("entry " + entry + " has no payload");
        }
        spoiled.setByte(last, spoiled.getByte(last) ^ 1);
        // what goes bad is on a disk; a memory table takes no entry twice, so it is to have neither the good copy nor the bad one
        boolean inMemory = storage() instanceof SortedLedgerStorage;
        if (inMemory) {
            storage().flush();
        }
        storage().addEntry(spoiled);
        if (inMemory) {
            storage().flush();
        }
    }
}
