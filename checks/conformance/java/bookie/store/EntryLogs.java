package org.apache.bookkeeper.bookie;

import fencepost.Refused;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.bookkeeper.bookie.storage.EntryLogScanner;
import org.apache.bookkeeper.bookie.storage.EntryLogger;

/**
 * The entry logs of a directory of a DbLedgerStorage, and what its GarbageCollectorThread does with one of them. A log is named by its
 * number among those that have an entry of the ledgers that are looked at.
 */
final class EntryLogs {
    /** Of a log that is full, whatever is left in it: the compaction of the harness takes it. */
    private static final double ANY_USAGE = 1.1;

    private final DefaultEntryLogger logger;
    private final GarbageCollectorThread collector;

    EntryLogs(LedgerStorage directory) throws ReflectiveOperationException {
        logger = (DefaultEntryLogger) field(directory.getClass(), "entryLogger").get(directory);
        collector = (GarbageCollectorThread) field(directory.getClass(), "gcThread").get(directory);
    }

    private static Field field(Class<?> of, String name) throws NoSuchFieldException {
        Field found = of.getDeclaredField(name);
        found.setAccessible(true);
        return found;
    }

    /** Of each log that has entries of ledgers from a first one on: its id, and these entries, as ledger and entry. */
    TreeMap<Long, TreeSet<List<Long>>> contents(long first) throws IOException {
        TreeMap<Long, TreeSet<List<Long>>> found = new TreeMap<>();
        for (long id : logger.getEntryLogsSet()) {
            TreeSet<List<Long>> entries = new TreeSet<>((a, b) -> a.get(0).equals(b.get(0)) ? a.get(1).compareTo(b.get(1))
                    : a.get(0).compareTo(b.get(0)));
            logger.scanEntryLog(id, new EntryLogScanner() {
                @Override
                public boolean accept(long ledger) {
                    return ledger >= first;
                }

                @Override
                public void process(long ledger, long offset, ByteBuf entry) {
                    entries.add(List.of(ledger, entry.getLong(entry.readerIndex() + Long.BYTES)));
                }
            });
            if (!entries.isEmpty()) {
                found.put(id, entries);
            }
        }
        return found;
    }

    /** The current log is full: the next one begins. The save that fills a log flushes it before it ends. */
    void rotates() throws IOException {
        ((EntryLogManagerBase) logger.getEntryLogManager()).createNewLog(DefaultEntryLogger.UNASSIGNED_LEDGERID);
        logger.flush();
    }

    /** The collector reads one log, as it does with all, and deletes it if it finds no ledger there that the bookie knows. */
    void looks(long first, int number) throws Exception {
        long id = id(first, number);
        try (OneLog only = new OneLog(id)) {
            collector.extractMetaFromEntryLogs();
        }
    }

    /** The collector reads one log, and compacts it. */
    void compacts(long first, int number) throws Exception {
        long id = id(first, number);
        try (OneLog only = new OneLog(id)) {
            collector.extractMetaFromEntryLogs();
            collector.doCompactEntryLogs(ANY_USAGE, 0);
        }
    }

    private long id(long first, int number) throws IOException, Refused {
        long id = new ArrayList<>(contents(first).keySet()).get(number);
        if (!logger.getFlushedLogIds().contains(id)) {
            throw new Refused("the collector does not read the log, which is written");
        }
        return id;
    }

    /** While this is open there is one log for the collector, of which it has read nothing yet. */
    private final class OneLog implements AutoCloseable {
        private final Field seen = field(GarbageCollectorThread.class, "entryLogger");

        OneLog(long id) throws Exception {
            forgets();
            seen.set(collector, Proxy.newProxyInstance(EntryLogger.class.getClassLoader(), new Class<?>[] {EntryLogger.class},
                    (self, method, arguments) -> {
                        if (method.getName().equals("getFlushedLogIds")) {
                            return Set.of(id);
                        }
                        try {
                            return method.invoke(logger, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    }));
        }

        private void forgets() throws Exception {
            List<Long> read = new ArrayList<>();
            collector.getEntryLogMetaMap().forEach((id, metadata) -> read.add(id));
            for (long id : read) {
                collector.getEntryLogMetaMap().remove(id);
            }
        }

        @Override
        public void close() throws Exception {
            seen.set(collector, logger);
            forgets();
        }
    }
}
