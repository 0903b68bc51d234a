package org.apache.bookkeeper.client;

import java.util.TreeMap;

/** The ledgers of a run: those of the topic's data, numbered from 1 as they are created, and those of cursors. */
public final class StoredLedgers {
    private static final long CURSORS = 1_000_000;

    private final TreeMap<Long, StoredLedger> ledgers = new TreeMap<>();
    private long data;
    private long cursors = CURSORS;

    StoredLedger create(boolean ofData) {
        StoredLedger ledger = new StoredLedger(ofData ? ++data : ++cursors, ofData);
        ledgers.put(ledger.id, ledger);
        return ledger;
    }

    /** Those of data, in their order. */
    public Iterable<StoredLedger> data() {
        return ledgers.headMap(CURSORS).values();
    }

    /** The ledger; null if there is none, or it is deleted. */
    public StoredLedger find(long id) {
        StoredLedger ledger = ledgers.get(id);
        return ledger == null || ledger.status.equals("deleted") ? null : ledger;
    }

    boolean isOfData(long id) {
        return id < CURSORS;
    }
}
