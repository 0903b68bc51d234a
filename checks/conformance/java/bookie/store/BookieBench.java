package org.apache.bookkeeper.bookie;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Folders;
import fencepost.Lines;
import fencepost.Refused;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.bookkeeper.bookie.storage.ldb.LocationsIndexRebuildOp;
import org.apache.bookkeeper.proto.BookieProtocol;
import org.apache.bookkeeper.proto.Requests;

/**
 * One bookie at a time, with its folder: it is started, stopped and killed, and nothing of it moves but by {@link #answer}.
 *
 * <p>A request has {@code do} and what that takes; the answer has what is seen, and {@code refused} if the step could not be taken.
 * {@code begin} makes a bookie that is up, in a folder of its own in {@code root}, if that is given; {@code adopt} takes over the
 * folder of a process that was killed.
 */
public final class BookieBench implements Lines.Target {
    /** The ledgers of a run, from this one on; the even one is in the first directory, and in the first journal. */
    private static final long FIRST = 10;
    private static final byte[] KEY = "key of the ledgers".getBytes(StandardCharsets.UTF_8);
    private static final Set<String> READS = Set.of("read", "fence");
    private static final int LAC_BYTES = 8 + 8;

    /** Ends what is left of processes that are gone. */
    private final ExecutorService undertaker = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "undertaker");
        thread.setDaemon(true);
        return thread;
    });

    private final String storageClass;
    private final Map<String, File> fresh = new HashMap<>();
    private Settings settings;
    private File root;
    private File folder;
    private int folders;
    private int ledgers;
    private int entries;
    private Life life;
    private final List<long[]> lacs = Collections.synchronizedList(new ArrayList<>());

    private BookieBench(String storageClass) {
        this.storageClass = storageClass;
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(() -> new BookieBench(arguments[0]));
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        Set<Long> paged = life != null && READS.contains(request.get("do").asText()) ? life.paged() : null;
        try {
            take(request);
        } catch (Refused e) {
            answer.put("refused", e.getMessage());
        }
        if (life != null) {
            paged = paged == null ? life.paged() : paged;
        }
        see(answer.putObject("seen"));
        if (life != null) {
            life.unpage(paged); // of what is read, and looked at, nothing stays in memory
        }
        answer.put("folder", folder.getPath());
    }

    private void take(JsonNode step) throws Exception {
        long ledger = FIRST + step.path("ledger").asInt();
        long entry = step.path("entry").asLong();
        int flusher = step.path("flusher").asInt(-1);
        switch (step.get("do").asText()) {
            case "begin": begin(step, false); break;
            case "adopt": begin(step, true); break;
            case "add": add(step, ledger, entry); break;
            case "answer": expect(step, life.requests().added(step.path("recovers").asBoolean(), ledger, entry)); break;
            case "read": expect(step, life.requests().read(ledger, entry, step.path("fences").asBoolean() ? KEY : null)); break;
            case "check-fence": life.checksFence(ledger, entry, KEY, body(ledger, entry, 'e')); break;
            case "fence": fence(ledger); break;
            case "lac": lac(ledger, entry); break;
            case "lac-answer": lacAnswer(ledger, entry); break;
            case "write": life.writes(step.path("journal").asInt()); break;
            case "sync": life.syncs(step.path("journal").asInt()); break;
            case "take-checkpoint": life.takesCheckpoint(); break;
            case "fill-cache": life.fillsCache(flusher); break;
            case "read-second-journal": life.readsSecondJournal(flusher); break;
            case "save": life.saves(flusher); break;
            case "fail-save": life.failsToSave(flusher); break;
            case "fail-save-index": life.failsToSaveIndex(flusher, ledger); break;
            case "mark": life.marks(flusher); break;
            case "collect": life.storage.deleteLedger(ledger); break;
            case "rotate": life.logs().rotates(); break;
            case "collect-log": life.logs().looks(FIRST, step.get("log").asInt()); break;
            case "compact": life.logs().compacts(FIRST, step.get("log").asInt()); break;
            case "rebuild-index": new LocationsIndexRebuildOp(settings.in(folder)).initiate(); break;
            case "look": break;
            case "stop": life.stops(); break;
            case "end": end(); break;
            case "kill": kill(false); break;
            case "lose-power": kill(true); break;
            case "replay": replay(); break;
            case "serve": life.serves(); break;
            default: throw new IllegalArgumentException("no step " + step);
        }
    }

    // --- the process

    private void begin(JsonNode asked, boolean adopts) throws Exception {
        FastThreadLocal.removeAll(); // by which this thread keeps the entry loggers of bookies that were stopped
        bury();
        settings = new Settings(storageClass, asked);
        ledgers = asked.get("ledgers").asInt();
        entries = asked.get("entries").asInt();
        if (asked.has("root")) {
            root = new File(asked.get("root").asText());
        } else if (root == null) {
            root = Folders.fresh("bookie");
        }
        if (adopts) {
            folder = new File(asked.get("folder").asText());
            return;
        }
        folder = another();
        Folders.copy(madeOnce(), folder);
        replay();
        life.saves(-1);
        life.serves();
    }

    private File another() {
        File made = new File(root, ProcessHandle.current().pid() + "-" + folders++);
        made.mkdirs();
        return made;
    }

    /** A bookie's folder in which something was journaled and saved: the log mark of one in which nothing was is no place. */
    private File madeOnce() throws Exception {
        File made = fresh.get(settings.name());
        if (made == null) {
            made = another();
            Life first = new Life(settings.in(made));
            first.replays();
            first.saves(-1);
            first.serves();
            for (long ledger = 0; ledger < Math.max(settings.directories, settings.journals); ledger++) {
                first.requests().add(false, ledger, 0, KEY, body(ledger, 0, 'e'));
            }
            for (int journal = 0; journal < settings.journals; journal++) {
                first.writes(journal);
                first.syncs(journal);
            }
            first.stops();
            first.saves(-1);
            first.ends();
            fresh.put(settings.name(), made);
        }
        return made;
    }

    private void replay() throws Exception {
        Life made = new Life(settings.in(folder));
        if (!made.replays()) {
            throw new Refused("the bookie does not start");
        }
        life = made;
    }

    private void end() throws Exception {
        life.ends();
        forget();
    }

    /** The process is gone: what it has written stays as it is, or, with the power, what it has synced. */
    private void kill(boolean withThePower) throws Exception {
        File copy = another();
        Folders.copy(folder, copy);
        File[] journals = settings.in(copy).getJournalDirs();
        for (int number = 0; withThePower && number < journals.length; number++) {
            Records.cut(BookieImpl.getCurrentDirectory(journals[number]), life.synced(number));
        }
        bury();
        folder = copy;
    }

    private void bury() {
        Life gone = life;
        File left = folder;
        forget();
        if (left != null) {
            undertaker.execute(() -> {
                try {
                    if (gone != null) {
                        gone.buried();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
                Folders.delete(left);
            });
        }
    }

    private void forget() {
        life = null;
        lacs.clear();
    }

    // --- requests

    private static ByteBuf body(long ledger, long entry, char of) {
        ByteBuf body = Unpooled.buffer(Records.HEADER + 1);
        return body.writeLong(ledger).writeLong(entry).writeLong(-1).writeLong(1).writeByte(of);
    }

    private void add(JsonNode step, long ledger, long entry) throws Exception {
        boolean recovers = step.path("recovers").asBoolean();
        ByteBuf body = body(ledger, entry, recovers ? 'r' : 'e');
        if (step.path("checked").asBoolean()) {
            life.addsChecked(ledger, entry);
        } else if (step.path("keyLast").asBoolean()) {
            life.addsWithKeyLast(ledger, entry, KEY, body, body(ledger, entry, 'r'));
        } else {
            life.requests().add(recovers, ledger, entry, KEY, body);
        }
        if (step.has("code")) {
            expect(step, life.requests().added(recovers, ledger, entry));
        }
    }

    private void fence(long ledger) throws Exception {
        if (!life.fences(ledger, KEY)) {
            throw new Refused("the fencing read waits for an add that is under way");
        }
    }

    private static void expect(JsonNode step, Requests.Answer answer) throws Refused {
        if (answer == null) {
            throw new Refused("the bookie does not answer");
        }
        for (JsonNode code : step.get("code")) {
            if (code.asInt() == answer.code) {
                return;
            }
        }
        throw new Refused("the bookie answers with code " + answer.code);
    }

    private void lac(long ledger, long lac) throws Exception {
        ByteBuf body = Unpooled.buffer(LAC_BYTES, LAC_BYTES).writeLong(ledger).writeLong(lac);
        life.bookie.setExplicitLac(body, (code, of, entry, from, context) -> lacs.add(new long[] {ledger, lac}), null, KEY);
    }

    private void lacAnswer(long ledger, long lac) throws Refused {
        synchronized (lacs) {
            if (lacs.stream().noneMatch(told -> told[0] == ledger && told[1] == lac)) {
                throw new Refused("the bookie does not answer");
            }
            lacs.removeIf(told -> told[0] == ledger && told[1] <= lac);
        }
    }

    // --- what can be seen

    private void see(ObjectNode seen) throws Exception {
        seen.put("stage", life == null ? "down" : life.stage());
        ArrayNode journals = seen.putArray("journals");
        for (int number = 0; number < settings.journals; number++) {
            seeJournal(number, journals.addObject());
        }
        if (life == null) {
            return;
        }
        seen.put("sync", life.checkpoint(-1));
        ArrayNode caches = seen.putArray("caches");
        for (int directory = 0; directory < life.directories(); directory++) {
            caches.addObject().put("checkpoint", life.checkpoint(directory)).put("dirty", life.dirty(directory));
        }
        ArrayNode each = seen.putArray("ledgers");
        for (int number = 0; number < ledgers; number++) {
            see(FIRST + number, each.addObject());
        }
        if (life.directories() == 1) {
            ArrayNode logs = seen.putArray("logs");
            for (Set<List<Long>> log : life.logs().contents(FIRST).values()) {
                ArrayNode entries = logs.addArray();
                log.forEach(entry -> entries.add("l" + (entry.get(0) - FIRST) + " e" + entry.get(1)));
            }
        }
    }

    private void seeJournal(int number, ObjectNode seen) throws Exception {
        int[] unsynced = {0};
        List<String> past = new Records(settings.in(folder), number).past(life == null ? null : life.synced(number), unsynced);
        seen.put("reaches", past != null);
        if (past != null) {
            past.forEach(seen.putArray("past")::add);
        }
        if (life != null) {
            seen.put("unsynced", unsynced[0]);
            life.unwritten(number).forEach(seen.putArray("unwritten")::add);
        }
    }

    private void see(long ledger, ObjectNode seen) throws Exception {
        boolean known = life.storage.ledgerExists(ledger);
        boolean fenced = known && life.storage.isFenced(ledger);
        seen.put("fenced", fenced);
        seen.put("key", life.knowsKey(ledger));
        seen.put("refused", life.refuses(ledger));
        boolean loaded = life.hasDescriptor(ledger);
        ByteBuf lac = known ? life.storage.getExplicitLac(ledger) : null;
        seen.put("lac", lac == null || !lac.isReadable() ? 0 : lac.getLong(lac.readerIndex() + 8) + 1);
        ArrayNode stored = seen.putArray("stored");
        ArrayNode reads = seen.putArray("fencing");
        for (long entry = 0; entry < entries; entry++) {
            if (known && life.has(ledger, entry)) { // of a ledger that it does not know a bookie denies every entry
                stored.add(entry);
            }
            if (fenced && life.serving()) {
                Requests.Answer told = life.requests().read(ledger, entry, KEY);
                reads.add(told == null ? "waits" : told.code == BookieProtocol.EOK ? "found"
                        : told.code == BookieProtocol.ENOENTRY || told.code == BookieProtocol.ENOLEDGER ? "denied"
                        : "code " + told.code);
            }
        }
        if (!loaded) {
            life.forgetsDescriptor(ledger); // with which a fencing read that only looks has come
        }
        ArrayNode answers = seen.putArray("answers");
        if (life.serving()) {
            for (boolean recovers : new boolean[] {false, true}) {
                for (Requests.Answer told : life.requests().waiting(recovers)) {
                    if (told.ledger == ledger) {
                        answers.add((recovers ? "r" : "e") + told.entry + (told.code == 0 ? "" : " code " + told.code));
                    }
                }
            }
            synchronized (lacs) {
                lacs.stream().filter(told -> told[0] == ledger).forEach(told -> answers.add("lac" + (told[1] + 1)));
            }
        }
    }

    @Override
    public void close() throws Exception {
        bury();
        undertaker.submit(() -> { }).get();
        fresh.values().forEach(Folders::delete);
    }
}
