package org.apache.bookkeeper.client;

import fencepost.Server;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.net.BookieId;

/** A run of the command recover, for one ledger: it takes no task and no lock. */
final class Command extends Member {
    private final LedgerBench bench;
    private final BookKeeperAdmin admin;
    private HeldMetadata.Operation opening;
    private String choice;
    /** What came of it; null while it is under way. */
    private Integer end = BKException.Code.OK;

    Command(String name, LedgerBench bench) throws Exception {
        super(new RecoveringClient(name, bench), bench);
        this.bench = bench;
        client.connect(null, old -> choice);
        admin = new BookKeeperAdmin(client, new ClientConfiguration());
    }

    /** It has read the metadata, and has not heard of it: with the answer it chooses bookies at once. */
    void recover(BookieId bookie) throws Exception {
        end = null;
        admin.asyncRecoverBookieData(bench.ledger, Set.of(bookie), false, false, (rc, context) -> end = rc, null);
        opening = operation();
        client.begins(bookie.getId(), bench.metadata.of(bench.ledger).getValue().getAllEnsembles().get(0L).stream()
                .map(BookieId::getId).collect(Collectors.toSet()));
        opening.perform();
    }

    @Override
    String waitsFor() {
        if (end != null) {
            return NOTHING;
        }
        if (opening != null) {
            return "choose " + client.replaced;
        }
        if (operation() != null) {
            return operation().kind.equals("write") ? "publish" : operation().kind;
        }
        return requests().isEmpty() ? "" : "copy";
    }

    @Override
    void choose(String bookie) {
        choice = bookie;
        HeldMetadata.Operation answered = opening;
        opening = null;
        answered.tell();
    }

    @Override
    String place() {
        return end == null ? "under way" : "over with " + end;
    }

    @Override
    boolean isZombie(Server server) {
        return false;
    }

    @Override
    int taskVersion() {
        return 0;
    }

    @Override
    void close() {
    }
}
