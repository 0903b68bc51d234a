package org.apache.bookkeeper.bookie;

import com.fasterxml.jackson.databind.JsonNode;
import fencepost.SmallBookie;
import java.io.File;
import org.apache.bookkeeper.conf.ServerConfiguration;

/** What the bookie of a run is like: its storage, how many ledger directories it has, and what its journal does. */
final class Settings {
    private final String storageClass;
    final int directories;
    private final boolean syncData;
    private final boolean writeData;

    Settings(String storageClass, JsonNode asked) {
        this.storageClass = storageClass;
        directories = asked.path("directories").asInt(1);
        syncData = asked.path("journalSyncData").asBoolean(true);
        writeData = asked.path("journalWriteData").asBoolean(true);
    }

    /** What tells bookies with other settings apart. */
    String name() {
        return directories + "-" + syncData + "-" + writeData;
    }

    ServerConfiguration in(File folder) {
        String[] ledgers = new String[directories];
        for (int number = 0; number < directories; number++) {
            ledgers[number] = "ledgers" + number;
        }
        ServerConfiguration conf = SmallBookie.in(folder, "bookie", storageClass, ledgers);
        conf.setJournalSyncData(syncData);
        conf.setJournalWriteData(writeData);
        conf.setJournalPageCacheFlushIntervalMSec(0); // without syncData too, what is written may be synced at any time
        conf.setMaxJournalSizeMB(0); // each write is a file of its own
        conf.setMaxBackupJournals(0);
        // requests are processed as they come, except for those that fence
        conf.setNumAddWorkerThreads(0);
        conf.setNumReadWorkerThreads(0);
        conf.setNumLongPollWorkerThreads(1);
        conf.setNumHighPriorityWorkerThreads(1);
        return conf;
    }
}
