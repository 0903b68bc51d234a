package fencepost;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;
import org.apache.bookkeeper.conf.ServerConfiguration;

/** The settings of a bookie that is small, and does nothing of itself: no collection, no compaction, no checkpoint by time. */
public final class SmallBookie {
    private SmallBookie() {
    }

    /** RocksDB for the indexes of DbLedgerStorage, in the form of its option files: a bookie boots often here, and holds little. */
    private static final String INDEXES = """
            [Version]
              rocksdb_version=6.16.4
              options_file_version=1.1
            [DBOptions]
              create_if_missing=true
              max_file_opening_threads=1
              allow_fallocate=false
              info_log_level=ERROR_LEVEL
            [CFOptions "default"]
              write_buffer_size=1048576
            """;

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
        // a read brings no other entry into memory: it would find entries in the log that no index names, after a flush that failed
        conf.setProperty("dbStorage_readAheadCacheBatchSize", 0);
        for (String index : List.of("entryLocationRocksdbConf", "ledgerMetadataRocksdbConf")) {
            conf.setProperty(index, indexes(folder).getPath());
        }
        conf.setSkipListSizeLimit(1 << 20);
        conf.setSkipListArenaChunkSize(64 << 10);
        conf.setSkipListArenaMaxAllocSize(16 << 10);
        conf.setPageLimit(64);
        conf.setNumAddWorkerThreads(1);
        conf.setNumReadWorkerThreads(1);
        conf.setServerNumIOThreads(1);
        return conf;
    }

    private static File indexes(File folder) {
        File file = new File(folder, "indexes.conf");
        try {
            folder.mkdirs();
            Files.writeString(file.toPath(), INDEXES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }
}
