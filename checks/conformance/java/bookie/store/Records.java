package org.apache.bookkeeper.bookie;

import io.netty.buffer.ByteBuf;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.bookkeeper.bookie.Journal.QueueEntry;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.stats.NullStatsLogger;

/** The records of a journal, as they are in its files and in its queue: of each, its ledger and what it is. */
final class Records {
    /** Of the bytes of an entry, or of the record of one: what comes before its payload. */
    static final int HEADER = 32;
    /** Of the record of an explicit last add confirmed: ledger, mark of the record, length, and ledger again. */
    private static final int LAC_AT = 8 + 8 + 4 + 8;

    private final ServerConfiguration conf;
    private final int number;
    private final File folder;

    /** Those of one of the journals. */
    Records(ServerConfiguration conf, int number) {
        this.conf = conf;
        this.number = number;
        folder = BookieImpl.getCurrentDirectory(conf.getJournalDirs()[number]);
    }

    /** A place in the journal. */
    static final class Place {
        final long file;
        final long offset;

        Place(Journal.LastLogMark mark) {
            file = mark.getCurMark().getLogFileId();
            offset = mark.getCurMark().getLogFileOffset();
        }

        boolean isBefore(long otherFile, long otherOffset) {
            return file < otherFile || file == otherFile && offset <= otherOffset;
        }
    }

    /** A journal that is only read, with the log mark as it is on the disk. */
    private Journal reading() throws IOException {
        LedgerDirsManager ledgers = BookieResources.createLedgerDirsManager(conf, BookieResources.createDiskChecker(conf),
                NullStatsLogger.INSTANCE);
        return new Journal(number, folder, conf, ledgers);
    }

    /** Tells what replay would read, in its order: the records past the log mark; null if its first file is gone. */
    List<String> past(Place synced, int[] unsynced) throws IOException {
        Journal journal = reading();
        Place mark = new Place(journal.getLastLogMark());
        List<Long> files = Journal.listJournalIds(folder, id -> id >= mark.file);
        if (files.isEmpty() || files.get(0) != mark.file) {
            return null;
        }
        List<String> found = new ArrayList<>();
        for (long file : files) {
            journal.scanJournal(file, file == mark.file ? mark.offset : 0, (version, offset, bytes) -> {
                found.add(word(bytes));
                if (synced != null && synced.isBefore(file, offset)) {
                    unsynced[0]++;
                }
            }, false);
        }
        return found;
    }

    /** Cuts the journal in a copy of the folder where it was synced. */
    static void cut(File journal, Place synced) throws IOException {
        for (long file : Journal.listJournalIds(journal, null)) {
            File found = new File(journal, Long.toHexString(file) + ".txn");
            if (file > synced.file) {
                found.delete();
            } else if (file == synced.file) {
                try (java.io.RandomAccessFile open = new java.io.RandomAccessFile(found, "rw")) {
                    open.setLength(Math.min(open.length(), synced.offset));
                }
            }
        }
    }

    static List<String> of(List<QueueEntry> queued) {
        List<String> found = new ArrayList<>();
        for (QueueEntry each : queued) {
            ByteBuf bytes = each.entry;
            found.add(word(bytes.nioBuffer(bytes.readerIndex(), bytes.readableBytes())));
        }
        return found;
    }

    /** A record in words: {@code 10 key}, {@code 10 fence}, {@code 10 lac1}, {@code 10 e0}, {@code 10 r0}. */
    private static String word(ByteBuffer bytes) {
        ByteBuffer from = bytes.duplicate();
        int start = from.position();
        long ledger = from.getLong(start);
        long entry = from.getLong(start + 8);
        if (entry == BookieImpl.METAENTRY_ID_LEDGER_KEY) {
            return ledger + " key";
        }
        if (entry == BookieImpl.METAENTRY_ID_FENCE_KEY) {
            return ledger + " fence";
        }
        if (entry == BookieImpl.METAENTRY_ID_LEDGER_EXPLICITLAC) {
            return ledger + " lac" + (from.getLong(start + LAC_AT) + 1);
        }
        return ledger + " " + (char) from.get(start + HEADER) + entry;
    }
}
