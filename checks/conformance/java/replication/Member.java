package org.apache.bookkeeper.client;

import fencepost.Server;
import java.util.ArrayList;
import java.util.List;

/** Who replaces bookies of the ledger: a worker of auto-recovery, or a run of the command recover, each with a client of its own. */
abstract class Member {
    final RecoveringClient client;
    private final LedgerBench bench;

    Member(RecoveringClient client, LedgerBench bench) {
        this.client = client;
        this.bench = bench;
        bench.put(client.name, client);
    }

    /** Its requests to bookies that are not answered. */
    List<HeldRequest> requests() {
        List<HeldRequest> mine = new ArrayList<>();
        for (HeldRequest request : bench.requests) {
            if (request.owner == client && !request.answered) {
                mine.add(request);
            }
        }
        return mine;
    }

    HeldMetadata.Operation operation() {
        return bench.metadata.next(client);
    }

    /** What it waits for, {@link #NOTHING} if it has nothing to do; empty while it goes on. */
    abstract String waitsFor();

    static final String NOTHING = "nothing";

    /** It goes on with that bookie where it waits for the choice, or with "nobody". */
    abstract void choose(String bookie) throws Exception;

    /** Where it is, for a person. */
    abstract String place();

    /** Whether the session with which it began is gone. */
    abstract boolean isZombie(Server server);

    /** The version of the task that it deletes by, 0 without a task. */
    abstract int taskVersion() throws Exception;

    abstract void close() throws Exception;
}
