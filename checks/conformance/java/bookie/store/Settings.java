package org.apache.bookkeeper.bookie;

import com.fasterxml.jackson.databind.JsonNode;
import fencepost.SmallBookie;
import java.io.File;
import org.apache.bookkeeper.conf.ServerConfiguration;

/** What the bookie of a run is like: its storage, how many directories of ledgers and of journals it has, what a journal does. */
final class Settings {
    private final String storageClass;
    final int directories;
    final int journals;
    private final boolean syncData;
    private final boolean writeData;

    Settings(String storageClass, JsonNode asked) {
        this.storageClass = storageClass;
        directories = asked.path("directories").asInt(1);
        journals = asked.path("journals").asInt(1);
        syncData = asked.path("journalSyncData").asBoolean(true);
        writeData = asked.path("journalWriteData").asBoolean(true);
    }

    /** What tells bookies with other settings apart. */
    String name() {
        return directories + "-" + journals + "-" + syncData + "-" + writeData;
    }

    ServerConfiguration in(File folder) {
        String[] ledgers = new String[directories];
        for (int number = 0; number < directories; number++) {
            ledgers[number] = "ledgers" + number;
        }
        ServerConfiguration conf = SmallBookie.in(folder, "bookie", storageClass, ledgers);
        conf.setJournalDirsName(journals(folder));
        conf.setJournalSyncData(syncData);
        conf.setJournalWriteData(writeData);
        conf.setJournalPageCacheFlushIntervalMSec(0); // without syncData too, what is written may be synced at any time
        conf.setMaxJournalSizeMB(0); // each write is a file of its own
        conf.setMaxBackupJournals(0);
        conf.setProperty("dbStorage_readAheadCacheMaxSizeMb", 0); // what was read stays readable there when the disk has lost it
        // requests are processed as they come, except for those that fence
        conf.setNumAddWorkerThreads(0);
        conf.setNumReadWorkerThreads(0);
        conf.setNumLongPollWorkerThreads(1);
        conf.setNumHighPriorityWorkerThreads(1);
        return conf;
    }

    /** The directories of journals in a bookie's folder; of two the first has the even ledgers. */
    private String[] journals(File folder) {
        String[] names = new String[journals];
        for (int number = 0; number < journals; number++) {
            names[number] = new File(folder, "journal" + number).getPath();
        }
        return names;
    }
}
