package org.apache.bookkeeper.client;

import com.fasterxml.jackson.databind.JsonNode;
import fencepost.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookieProtocol;
import org.apache.bookkeeper.proto.checksum.DigestManager;

/** What can be done to a ledger, each step by its name; what the code cannot do then is refused. */
final class Steps {
    private final LedgerBench bench;

    Steps(LedgerBench bench) {
        this.bench = bench;
    }

    void take(JsonNode step) throws Exception {
        switch (step.get("do").asText()) {
            case "begin":
                begin(step);
                break;
            case "add":
                client(step).add(step.get("entry").asLong());
                break;
            case "take-ensemble":
                client(step).takeEnsemble(step.get("entry").asLong());
                break;
            case "deliver":
                deliver(step);
                break;
            case "answer":
                newest(step, r -> !r.answered && r.delivered).answer(null);
                break;
            case "fail":
                fail(step);
                break;
            case "ask":
                ask(step);
                break;
            case "perform":
                perform(operation(client(step), false));
                break;
            case "tell":
                operation(client(step), true).tell();
                break;
            case "recover":
                bench.client(step.get("of").asText()).recover();
                bench.settle();
                finish(client(step));
                break;
            case "finish":
                finish(client(step));
                break;
            case "close":
                close(step);
                break;
            case "send-explicit-lac":
                client(step).sendExplicitLac();
                break;
            case "read-past-end":
                readPastEnd(step);
                break;
            case "read-tail":
                readTail(step);
                break;
            case "delete":
                delete();
                break;
            case "collect":
                bookie(step).storage().deleteLedger(bench.ledger);
                break;
            case "kill":
                bookie(step).kill();
                break;
            case "stop":
                bookie(step).stop();
                break;
            case "flush":
                bookie(step).flush();
                break;
            case "fail-to-flush":
                bookie(step).failToFlush();
                break;
            case "check-fence":
                one(step, r -> !r.delivered && !r.answered).checkFence(bookie(step));
                break;
            case "wipe":
                bookie(step).wipe(step.path("deleted").asBoolean());
                break;
            case "start":
                bookie(step).start();
                break;
            case "lose":
                bookie(step).lose(bench.ledger, step.get("keep").asLong(), DigestManager.generateMasterKey(GatedClient.PASSWORD));
                break;
            case "rot":
                bookie(step).spoil(bench.ledger, step.get("entry").asLong());
                break;
            default:
                throw new IllegalArgumentException("unknown step " + step);
        }
    }

    // --- who and what

    private GatedClient client(JsonNode step) throws Refused {
        GatedClient client = bench.clients.get(step.get("of").asText());
        if (client == null) {
            throw new Refused("there is no client " + step.get("of").asText());
        }
        return client;
    }

    private RealBookie bookie(JsonNode step) {
        return bench.bookies.get(step.get("at").asText());
    }

    /** The requests of a client of one kind, to one bookie, about one entry, the oldest first. */
    private List<HeldRequest> like(JsonNode step) {
        List<HeldRequest> found = new ArrayList<>();
        for (HeldRequest r : bench.requests) {
            if (r.owner.name.equals(step.get("of").asText()) && r.kind.name.equals(step.get("what").asText())
                    && r.bookie.getId().equals(step.get("at").asText())
                    && r.entry == step.path("entry").asLong(BookieProtocol.LAST_ADD_CONFIRMED)) {
                found.add(r);
            }
        }
        return found;
    }

    private HeldRequest one(JsonNode step, Predicate<HeldRequest> fits) throws Refused {
        return like(step).stream().filter(fits).findFirst().orElseThrow(() -> none(step));
    }

    /** An answer to what a bookie was sent before it left the ensemble would not count. */
    private HeldRequest newest(JsonNode step, Predicate<HeldRequest> fits) throws Refused {
        return like(step).stream().filter(fits).reduce((first, second) -> second).orElseThrow(() -> none(step));
    }

    private static Refused none(JsonNode step) {
        return new Refused("there is no such request: " + step.get("of").asText() + " " + step.get("what").asText() + " "
                + step.get("at").asText() + (step.has("entry") ? " e" + step.get("entry").asLong() : ""));
    }

    private HeldMetadata.Operation operation(GatedClient client, boolean done) throws Refused {
        HeldMetadata.Operation next = bench.metadata.next(client);
        if (next == null || next.done != done) {
            throw new Refused(client.name + " has no operation on the metadata that " + (done ? "is done" : "waits"));
        }
        return next;
    }

    private static String words(int code) {
        return BKException.getMessage(code);
    }

    // --- steps

    private void begin(JsonNode step) throws Exception {
        bench.begin(step.get("bookies").asInt(), step.get("entries").asInt(), step.path("synced").asBoolean());
        GatedClient writer = bench.client("writer");
        writer.create(step.get("ensemble").asInt(), step.get("write_quorum").asInt(), step.get("ack_quorum").asInt());
        bench.settle();
        finish(writer);
        if (writer.openCode == null || writer.openCode != BKException.Code.OK) {
            throw new IllegalStateException("the ledger cannot be created: " + writer.openCode);
        }
        reader();
    }

    /**
     * A request reaches its bookie, the oldest that has not yet, otherwise the newest once more; with {@code codes} the answer is to be
     * one of these, and with {@code heard} the answer reaches the client, too.
     */
    private void deliver(JsonNode step) throws Exception {
        boolean heard = step.path("heard").asBoolean();
        List<HeldRequest> like = like(step);
        HeldRequest request = like.stream().filter(r -> !r.delivered && !r.answered).findFirst()
                .or(() -> like.stream().filter(r -> heard && !r.answered).findFirst())
                .or(() -> like.stream().filter(r -> !heard && !r.delivered).findFirst())
                .or(() -> like.stream().filter(r -> !heard).reduce((first, second) -> second))
                .orElseThrow(() -> none(step));
        boolean keyLast = step.path("keyLast").asBoolean();
        int code = keyLast ? request.deliverWithKeyLast(bookie(step)) : request.deliver(bookie(step));
        if (step.has("codes")) {
            boolean fits = false;
            for (JsonNode wanted : step.get("codes")) {
                fits |= wanted.asInt() == code;
            }
            if (!fits) {
                throw new Refused("the bookie answers: " + words(code));
            }
        }
        if (heard) {
            request.answer(null);
        }
    }

    /** A request fails at the client, which, if {@code by} says so, is then to bring that bookie in. */
    private void fail(JsonNode step) throws Exception {
        GatedClient client = client(step);
        if (step.has("by")) {
            client.replacements.add(BookieId.parse(step.get("by").asText()));
        }
        try {
            one(step, r -> !r.answered).answer(BKException.Code.BookieHandleNotAvailableException);
            bench.settle();
            if (!client.replacements.isEmpty()) {
                throw new Refused("no other bookie is asked for");
            }
        } finally {
            client.replacements.clear();
        }
    }

    /** Has the client ask further bookies for an entry until it has asked this one. */
    private void ask(JsonNode step) throws Exception {
        GatedClient client = client(step);
        for (int i = 0; i <= bench.bookies.size(); i++) {
            if (like(step).stream().anyMatch(r -> !r.answered)) {
                return;
            }
            if (!client.askOneMore(step.get("entry").asLong())) {
                break;
            }
            bench.settle();
        }
        throw new Refused(client.name + " does not ask " + step.get("at").asText() + " for e" + step.get("entry").asLong());
    }

    private static void perform(HeldMetadata.Operation operation) throws Exception {
        operation.perform();
        if (operation.failure != null) {
            throw new Refused("the store answers: " + operation.failure.getClass().getSimpleName());
        }
    }

    /** The store does what a client asks of it, and the client hears of it, until it asks no more. */
    private void finish(GatedClient client) throws Exception {
        for (HeldMetadata.Operation o = bench.metadata.next(client); o != null; o = bench.metadata.next(client)) {
            if (!o.done) {
                o.perform();
            }
            o.tell();
            bench.settle();
        }
    }

    /**
     * The writer closes; what it has asked of the store before stays unanswered, or, if {@code refused} says so, it hears that its
     * change of ensemble is refused, and closes by that.
     */
    private void close(JsonNode step) throws Exception {
        GatedClient writer = client(step);
        if (step.path("refused").asBoolean()) {
            finish(writer);
        }
        for (HeldMetadata.Operation o : bench.metadata.operations) {
            o.abandoned |= o.owner == writer && !o.told;
        }
        writer.closeLedger();
        bench.settle();
        finish(writer);
        if (writer.closeCode == null) {
            throw new Refused("the close does not end");
        }
        boolean succeeds = writer.closeCode == BKException.Code.OK;
        if (succeeds != step.get("succeeds").asBoolean()) {
            throw new Refused("the close ends with: " + words(writer.closeCode));
        }
    }

    private void delete() throws Exception {
        GatedClient deleter = bench.client("deleter");
        deleter.delete();
        bench.settle();
        finish(deleter);
        if (deleter.closeCode == null || deleter.closeCode != BKException.Code.OK) {
            throw new Refused("the deletion ends with: " + deleter.closeCode);
        }
    }

    /** Recovery asks for one entry more than there can be: bookies that are fenced anyway deny it. */
    private void readPastEnd(JsonNode step) throws Exception {
        GatedClient client = client(step);
        for (BookieId id : bench.inUse()) {
            RealBookie bookie = bench.bookies.get(id.getId());
            if (bench.metadata.next(client) != null || client.openCode != null) {
                return;
            }
            if (!bookie.isUp() || !bookie.fenced(bench.ledger) || bookie.limbo(bench.ledger)) {
                continue;
            }
            HeldRequest request = asked(client, id, step.get("entry").asLong());
            if (request != null) {
                request.deliver(bookie);
                request.answer(null);
                bench.settle();
            }
        }
        if (bench.metadata.next(client) == null && client.openCode == null) {
            throw new Refused("recovery does not come to its end");
        }
    }

    private HeldRequest asked(GatedClient client, BookieId at, long entry) throws Exception {
        for (int i = 0; i <= bench.bookies.size(); i++) {
            for (HeldRequest r : bench.requests) {
                if (r.owner == client && r.kind == HeldRequest.Kind.READ && r.bookie.equals(at) && r.entry == entry && !r.answered) {
                    return r;
                }
            }
            if (!client.askOneMore(entry)) {
                return null;
            }
            bench.settle();
        }
        return null;
    }

    /** A reader of the run's ledger, opened without recovery. */
    private GatedClient reader() throws Exception {
        GatedClient reader = bench.anew("reader");
        reader.openToRead();
        bench.settle();
        finishReading(reader);
        if (reader.openCode == null || reader.openCode != BKException.Code.OK) {
            throw new Refused("the reader cannot open the ledger: " + (reader.openCode == null ? "no answer" : words(reader.openCode)));
        }
        return reader;
    }

    /** The reader that has the ledger open since the run began reads an entry, or, if it cannot, one that opens it now. */
    private void readTail(JsonNode step) throws Exception {
        long entry = step.get("entry").asLong();
        try {
            readTail(bench.clients.get("reader"), entry);
        } catch (Refused e) {
            readTail(reader(), entry);
        }
    }

    /** The reader hears the last add confirmed from whoever has the highest, and reads the entry. */
    private void readTail(GatedClient reader, long entry) throws Exception {
        long[] confirmed = {reader.handle.getLastAddConfirmed()};
        if (confirmed[0] < entry) {
            reader.handle.asyncReadLastConfirmed((rc, last, c) -> confirmed[0] = rc == BKException.Code.OK ? last : -2, null);
            bench.settle();
            finishReading(reader);
        }
        if (confirmed[0] < entry) {
            throw new Refused("the reader hears of a last add confirmed of " + confirmed[0]);
        }
        int[] code = {BKException.Code.TimeoutException};
        reader.handle.asyncReadEntries(entry, entry, (rc, lh, found, c) -> code[0] = rc, null);
        bench.settle();
        finishReading(reader);
        if (code[0] != BKException.Code.OK) {
            throw new Refused("the reader gets: " + words(code[0]));
        }
    }

    /** All that the reader asks is answered, by the bookies that know of the most first. */
    private void finishReading(GatedClient reader) throws Exception {
        while (true) {
            finish(reader);
            HeldRequest best = null;
            for (HeldRequest r : bench.requests) {
                if (r.owner == reader && !r.answered && (best == null || known(r) > known(best))) {
                    best = r;
                }
            }
            if (best == null) {
                return;
            }
            best.deliver(bench.bookies.get(best.bookie.getId()));
            best.answer(null);
            bench.settle();
        }
    }

    private long known(HeldRequest request) throws Exception {
        RealBookie bookie = bench.bookies.get(request.bookie.getId());
        return bookie.isUp() ? Math.max(bookie.lastAddConfirmed(bench.ledger), bookie.explicitLac(bench.ledger)) : -2;
    }
}
