package org.apache.bookkeeper.client;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.bookkeeper.client.api.LedgerMetadata;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.checksum.DigestManager;
import org.apache.bookkeeper.versioning.LongVersion;
import org.apache.bookkeeper.versioning.Versioned;

/** What can be seen of a ledger from outside, as JSON. */
final class Sight {
    private final LedgerBench bench;
    /** What a bookie that nothing has reached since still shows. */
    private final Map<BookieId, ObjectNode> shown = new HashMap<>();
    private DigestManager digests;

    Sight(LedgerBench bench) {
        this.bench = bench;
    }

    void tell(ObjectNode seen) throws Exception {
        metadata(seen.putObject("metadata"));
        ObjectNode bookies = seen.putObject("bookies");
        for (BookieId id : bench.inUse()) {
            RealBookie bookie = bench.bookies.get(id.getId());
            if (bookie.touched || !shown.containsKey(id)) {
                ObjectNode now = Lines.JSON.createObjectNode();
                bookie(bookie, now);
                shown.put(id, now);
                bookie.touched = false;
            }
            bookies.set(id.getId(), shown.get(id));
        }
        ObjectNode clients = seen.putObject("clients");
        for (GatedClient client : bench.clients.values()) {
            if (client.name.equals("reader")) {
                continue;
            }
            client(client, clients.putObject(client.name));
        }
        ArrayNode requests = seen.putArray("requests");
        for (HeldRequest r : bench.requests) {
            requests.addArray().add(r.owner.name).add(r.kind.name).add(r.bookie.getId()).add(r.entry).add(r.delivered).add(r.answered);
        }
        ArrayNode operations = seen.putArray("operations");
        for (HeldMetadata.Operation o : bench.metadata.operations) {
            if (!o.told && !o.abandoned) {
                operations.addArray().add(o.owner.name).add(o.kind).add(o.done);
            }
        }
    }

    private void metadata(ObjectNode to) throws Exception {
        Versioned<LedgerMetadata> now = bench.metadata.of(bench.ledger);
        if (now == null) {
            to.put("status", "deleted");
            return;
        }
        LedgerMetadata value = now.getValue();
        to.put("status", value.getState().toString().toLowerCase());
        to.put("version", ((LongVersion) now.getVersion()).getLongVersion());
        if (value.isClosed()) {
            to.put("last", value.getLastEntryId());
            to.put("length", value.getLength());
        }
        ensembles(value.getAllEnsembles(), to.putArray("ensembles"));
    }

    /** Each ensemble as its first entry and its bookies in their order. */
    private static void ensembles(Map<Long, ? extends List<BookieId>> all, ArrayNode to) {
        new TreeMap<>(all).forEach((first, members) -> {
            ArrayNode one = to.addArray();
            one.add(first);
            members.forEach(id -> one.add(id.getId()));
        });
    }

    /** A run has begun with a ledger of its own. */
    void forget() throws Exception {
        shown.clear();
        digests = DigestManager.instantiate(bench.ledger, GatedClient.PASSWORD,
                BookKeeper.DigestType.toProtoDigestType(BookKeeper.DigestType.CRC32C), UnpooledByteBufAllocator.DEFAULT, false);
    }

    private void bookie(RealBookie bookie, ObjectNode to) throws Exception {
        to.put("up", bookie.isUp());
        if (!bookie.isUp()) {
            return;
        }
        ArrayNode stored = to.putArray("stored");
        bookie.stored(bench.ledger, bench.entries).forEach(stored::add);
        ArrayNode rotten = to.putArray("rotten");
        bookie.rotten(bench.ledger, bench.entries, digests).forEach(rotten::add);
        to.put("fenced", bookie.fenced(bench.ledger));
        to.put("limbo", bookie.limbo(bench.ledger));
        to.put("lac", bookie.lastAddConfirmed(bench.ledger));
        to.put("explicit_lac", bookie.explicitLac(bench.ledger));
    }

    private static void client(GatedClient client, ObjectNode to) {
        if (client.openCode != null) {
            to.put("opened", BKException.getMessage(client.openCode));
        }
        if (client.closeCode != null) {
            to.put("closed", BKException.getMessage(client.closeCode));
        }
        ArrayNode confirmed = to.putArray("confirmed");
        ArrayNode failed = to.putArray("failed");
        client.addCodes.forEach((entry, rc) -> (rc == BKException.Code.OK ? confirmed : failed).add(entry));
        LedgerHandle handle = client.current();
        if (handle != null) {
            to.put("lac", handle.getLastAddConfirmed());
            ensembles(handle.getLedgerMetadata().getAllEnsembles(), to.putArray("ensembles"));
            ArrayNode current = to.putArray("current");
            handle.getCurrentEnsemble().forEach(id -> current.add(id.getId()));
        }
    }
}
