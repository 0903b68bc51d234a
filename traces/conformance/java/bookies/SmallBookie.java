package fencepost;

import java.io.File;
import java.util.stream.Stream;
import org.apache.bookkeeper.conf.ServerConfiguration;

/** The settings of a bookie that is small, and does nothing of itself: no collection, no compaction, no checkpoint by time. */
public final class SmallBookie {
    private SmallBookie() {
    }

    /** A bookie over a journal and ledger directories in a folder, with a ledger storage of that class. */
    public static ServerConfiguration in(File folder, String name, String storageClass, String... ledgerDirectories) {
        ServerConfiguration conf = new ServerConfiguration();
        conf.setBookieId(name);
        conf.setAllowLoopback(true);
        conf.setAdvertisedAddress("127.0.0.1");
        conf.setBookiePort(0);
        conf.setMetadataServiceUri(null);
        conf.setJournalDirName(new File(folder, "journal").getPath());
        conf.setLedgerDirNames(
                Stream.of(ledgerDirectories).map(each -> new File(folder, each).getPath()).toArray(String[]::new));
        conf.setLedgerStorageClass("org.apache.bookkeeper.bookie." + storageClass);
        conf.setGcWaitTime(3_600_000L);
        conf.setFlushInterval(3_600_000);
        conf.setMinorCompactionThreshold(0);
        conf.setMajorCompactionThreshold(0);
        conf.setDiskUsageThreshold(0.999f);
        conf.setDiskUsageWarnThreshold(0.998f);
        conf.setJournalFlushWhenQueueEmpty(true);
        conf.setJournalMaxGroupWaitMSec(0);
        // small
        conf.setProperty("journalPreAllocSizeMB", 1);
        conf.setJournalWriteBufferSizeKB(16);
        conf.setJournalMaxMemorySizeMb(1);
        conf.setNumJournalCallbackThreads(1);
        conf.setEntryLogFilePreAllocationEnabled(false);
        conf.setEntryLogSizeLimit(1 << 20);
        conf.setProperty("dbStorage_writeCacheMaxSizeMb", 2);
        conf.setProperty("dbStorage_readAheadCacheMaxSizeMb", 2);
        conf.setProperty("dbStorage_rocksDB_blockCacheSize", 1 << 20);
        conf.setProperty("dbStorage_rocksDB_writeBufferSizeMB", 1);
        conf.setSkipListSizeLimit(1 << 20);
        conf.setSkipListArenaChunkSize(64 << 10);
        conf.setSkipListArenaMaxAllocSize(16 << 10);
        conf.setPageLimit(64);
        conf.setNumAddWorkerThreads(1);
        conf.setNumReadWorkerThreads(1);
        conf.setServerNumIOThreads(1);
        return conf;
    }
}
