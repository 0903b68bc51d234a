package org.apache.bookkeeper.client;

import java.util.ArrayList;
import java.util.List;

/**
 * A ledger as its writer knows it: the stand-in of the model (model/stand_ins/ledger.py) in memory. Entries are sent and confirmed
 * in order, and it is closed at an end that has all that is confirmed and nothing that was not sent.
 */
public final class StoredLedger {
    public final long id;
    public final boolean data;
    public final List<byte[]> entries = new ArrayList<>();
    public String status = "open";
    public int confirmed;
    public int end;

    StoredLedger(long id, boolean data) {
        this.id = id;
        this.data = data;
    }

    /** What a reader gets. */
    int length() {
        return status.equals("open") ? confirmed : status.equals("closed") ? end : 0;
    }

    /** Closes it with that many entries, and returns whether it is closed so. */
    public boolean close(int entries) {
        if (status.equals("open")) {
            status = "closed";
            end = entries;
        }
        return status.equals("closed") && end == entries;
    }
}
