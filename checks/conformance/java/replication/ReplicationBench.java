package org.apache.bookkeeper.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Ticker;
import fencepost.Lines;
import fencepost.Refused;
import fencepost.Server;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.bookkeeper.bookie.datainteg.EntryCopierImpl;
import org.apache.bookkeeper.client.api.LedgerMetadata;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.meta.UnderreplicatedLedger;
import org.apache.bookkeeper.meta.ZkLedgerUnderreplicationManager;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.checksum.DigestManager;
import org.apache.bookkeeper.replication.HeldAuditor;
import org.apache.bookkeeper.versioning.Versioned;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Workers of auto-recovery, runs of the command recover, collectors, and one closed ledger at a time, which a reader may have open:
 * real bookies, a real ZooKeeper server, ledger metadata in a held store. Nothing of them moves but by {@link #answer}: a step lets it go on to where it waits next.
 */
public final class ReplicationBench implements Lines.Target {
    private static final int SECONDS = 20;
    private static final byte[] MASTER_KEY = masterKey();
    private final LedgerBench ledgers;
    private final Server server = new Server();
    private final ZooKeeper session;
    private final Map<String, Member> members = new LinkedHashMap<>();
    /** The collectors that are at it, by their bookies. */
    private final Map<String, Collector> collectors = new LinkedHashMap<>();
    /** What has happened to the copies of bookies that are down. */
    private final Map<RealBookie, List<Damage>> damages = new LinkedHashMap<>();
    /** Whether a reader asks to hear of changes of a closed ledger's metadata. */
    private final boolean asks;
    /** A client that has had the ledger open since it was closed; null if there is none. */
    private GatedClient reader;
    private ServerConfiguration conf;
    private LedgerUnderreplicationManager tasks;
    private HeldAuditor auditor;
    private DigestManager digests;
    private String root = "";
    private int runs;

    private ReplicationBench(String storage, boolean asks) throws Exception {
        this.asks = asks;
        ledgers = new LedgerBench(storage);
        ledgers.metadata.notifies = true;
        session = new ZooKeeper(connection(), Server.SESSION_MILLIS, event -> { });
        Server.until("connection", () -> session.getState() == ZooKeeper.States.CONNECTED);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(() -> new ReplicationBench(arguments[0], arguments.length > 1));
    }

    private static byte[] masterKey() {
        try {
            return DigestManager.generateMasterKey(GatedClient.PASSWORD);
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private String connection() {
        return "127.0.0.1:" + server.port();
    }

    @Override
    public void answer(JsonNode step, ObjectNode answer) throws Exception {
        try {
            take(step);
        } catch (Refused e) {
            answer.put("refused", e.getMessage());
        }
        tell(answer.putObject("seen"));
    }

    private void take(JsonNode step) throws Exception {
        switch (step.get("do").asText()) {
            case "begin":
                begin(step);
                break;
            case "nothing":
                break;
            case "audit":
                auditor.hear(HeldAuditor.Failure.valueOf(step.get("meets").asText()));
                break;
            case "audit-again":
                auditor.check();
                break;
            case "crash":
                endCollector(step.get("b").asText());
                bookie(step).stop();
                break;
            case "lose-disk":
                endCollector(step.get("b").asText());
                bookie(step).loseDisk();
                break;
            case "lose-entry":
                damage(bookie(step), b -> b.loseEntry(ledgers.ledger, step.get("entry").asLong(), ledgers.entries, MASTER_KEY));
                break;
            case "refill":
                refill(bookie(step), step.get("entry").asLong());
                break;
            case "recover":
                ((Command) member(step)).recover(bookie(step).id);
                settle(member(step));
                break;
            case "lock-surplus":
                lockSurplus(step.get("b").asText());
                break;
            case "look":
            case "collect":
                collectors.get(step.get("b").asText()).goOn(step.get("do").asText());
                break;
            case "restart":
                start(bookie(step));
                break;
            case "rot":
                damage(bookie(step), b -> b.spoil(ledgers.ledger, step.get("entry").asLong()));
                break;
            case "expire":
                worker(step).expire(server);
                break;
            case "shut-down":
                shutDown(step.get("w").asText());
                break;
            case "take":
                goOn(step, "take", "now");
                break;
            case "find":
                for (int times = step.get("times").asInt(); times > 0; times--) {
                    goOn(step, "check", "now");
                }
                break;
            case "choose":
                choose(step);
                break;
            case "copy":
                copy(step);
                break;
            case "replace":
                replace(member(step), step.get("needed").asBoolean());
                break;
            case "fail":
                fail(member(step));
                break;
            case "mark":
                goOn(step, "mark", "now");
                break;
            case "give-up":
                worker(step).worker.fire();
                break;
            default:
                throw new IllegalArgumentException("unknown step " + step);
        }
    }

    private Member member(JsonNode step) {
        return members.get(step.get("w").asText());
    }

    private Worker worker(JsonNode step) {
        return (Worker) member(step);
    }

    private RealBookie bookie(JsonNode step) {
        return ledgers.bookies.get(step.get("b").asText());
    }

    // --- a run begins

    private void begin(JsonNode step) throws Exception {
        for (Member member : members.values()) {
            end(member);
        }
        members.clear();
        if (auditor != null) {
            auditor.close();
        }
        for (String bookie : List.copyOf(collectors.keySet())) {
            endCollector(bookie);
        }
        int entries = step.get("entries").asInt();
        int ensemble = step.get("ensemble").asInt();
        damages.clear();
        // with a journal that is synced, a stop moves the log mark to its end: a start replays nothing
        ledgers.begin(step.get("bookies").asInt(), entries, true);
        write(entries, ensemble);
        reader = step.get("handle").asBoolean() ? openToRead() : null;
        digests = DigestManager.instantiate(ledgers.ledger, GatedClient.PASSWORD,
                BookKeeper.DigestType.toProtoDigestType(BookKeeper.DigestType.CRC32C),
                io.netty.buffer.UnpooledByteBufAllocator.DEFAULT, false);
        root = "/run" + ++runs;
        session.create(root, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        conf = new ServerConfiguration();
        conf.setMetadataServiceUri("zk+hierarchical://" + connection() + root);
        conf.setRwRereplicateBackoffMs(1);
        tasks = new ZkLedgerUnderreplicationManager(conf, session);
        auditor = auditor();
        for (int w = 0; w < step.get("workers").asInt(); w++) {
            start("w" + w);
        }
        for (int w = 0; w < step.get("commands").asInt(); w++) {
            String name = "recover" + w;
            members.put(name, new Command(name, ledgers));
        }
    }

    private HeldAuditor auditor() throws Exception {
        return new HeldAuditor(conf, (managed, marks) -> new AuditingClient(ledgers, managed, marks), tasks, ledgers.ledger,
                () -> ledgers.metadata.of(ledgers.ledger),
                () -> ledgers.inUse().stream().filter(id -> ledgers.bookies.get(id.getId()).isUp()).collect(Collectors.toSet()));
    }

    private void start(String name) throws Exception {
        Member member = Worker.start(name, ledgers, conf, connection());
        members.put(name, member);
        settle(member);
    }

    /** A ledger with all its entries, on the first bookies, closed. */
    private void write(int entries, int ensemble) throws Exception {
        GatedClient writer = ledgers.client("writer");
        writer.create(ensemble, ensemble, ensemble);
        finish(writer);
        for (long entry = 0; entry < entries; entry++) {
            writer.add(entry);
            ledgers.settle();
            for (HeldRequest request : List.copyOf(ledgers.requests)) {
                if (!request.answered) {
                    request.deliver(ledgers.bookies.get(request.bookie.getId()));
                    request.answer(null);
                }
            }
            ledgers.settle();
        }
        writer.closeLedger();
        finish(writer);
        if (writer.closeCode == null || writer.closeCode != BKException.Code.OK) {
            throw new IllegalStateException("the ledger cannot be written: " + writer.closeCode);
        }
        ledgers.requests.clear();
    }

    /** A client that opens the closed ledger, as BookKeeper.asyncOpenLedger does, and keeps it open. */
    private GatedClient openToRead() throws Exception {
        GatedClient client = ledgers.client("reader");
        LedgerOpenOp opening = new LedgerOpenOp(client, client.getClientCtx().getClientStats(), ledgers.ledger,
                BookKeeper.DigestType.CRC32C, GatedClient.PASSWORD, (rc, opened, context) -> client.handle = opened, null);
        // 4.17.2 has nothing to ask for
        LedgerOpenOp.class.getMethod(asks ? "initiateWithKeepUpdateMetadata" : "initiate").invoke(opening);
        finish(client);
        if (client.handle == null) {
            throw new IllegalStateException("the ledger cannot be opened");
        }
        return client;
    }

    private void finish(GatedClient client) throws Exception {
        ledgers.settle();
        for (HeldMetadata.Operation o = ledgers.metadata.next(client); o != null; o = ledgers.metadata.next(client)) {
            if (!o.done) {
                o.perform();
            }
            o.tell();
            ledgers.settle();
        }
    }

    private void finish(Member member) throws Exception {
        finish(member.client);
    }

    // --- a worker goes on

    private void expect(Member member, String waits) throws Refused {
        String at = member.waitsFor();
        if (!at.startsWith(waits)) {
            throw new Refused(member.client.name + " waits for " + (at.isEmpty() ? "nothing" : at));
        }
    }

    private void goOn(JsonNode step, String from, String with) throws Exception {
        Worker member = worker(step);
        expect(member, from);
        member.chosen = false;
        member.gate.open(with);
        settle(member);
    }

    /**
     * The worker runs until it waits at a gate, for copies, or for the store to publish. As it opens and checks the ledger, store and
     * bookies answer at once.
     */
    private void settle(Member member) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (true) {
            ledgers.settle();
            ForkJoinPool.commonPool().awaitQuiescence(1, TimeUnit.SECONDS);
            ledgers.settle();
            String at = member.waitsFor();
            if (at.equals("read")) {
                finish(member);
            } else if (at.equals("answers")) {
                for (HeldRequest request : member.requests()) {
                    deliver(request);
                }
            } else if (!at.isEmpty()) {
                return;
            } else if (System.nanoTime() > end) {
                throw new IllegalStateException("waited " + SECONDS + " s in vain for " + member.client.name + ", which is at "
                        + member.place());
            } else {
                Thread.sleep(1);
            }
        }
    }

    private void deliver(HeldRequest request) throws Exception {
        request.deliver(ledgers.bookies.get(request.bookie.getId()));
        request.answer(null);
    }

    private void choose(JsonNode step) throws Exception {
        Member member = member(step);
        reread(member);
        expect(member, "choose " + step.get("o").asText());
        String choice = step.get("n").asText();
        if (!member.client.choices().contains(choice)) {
            throw new Refused(choice + " is not among " + member.client.choices());
        }
        member.choose(choice);
        settle(member);
    }

    /** Before it chooses, the worker reads what it could not read the last time; returns whether there was something. */
    private boolean reread(Member member) throws Exception {
        if (!member.waitsFor().equals("reread")) {
            return false;
        }
        answered(member, request -> true);
        settle(member);
        return true;
    }

    /** An entry is read, and added to every new bookie; all of these answer. */
    private void copy(JsonNode step) throws Exception {
        Member member = member(step);
        expect(member, "copy");
        long entry = step.get("entry").asLong();
        if (answered(member, r -> r.entry == entry) == 0) {
            throw new Refused(member.client.name + " does not copy e" + entry);
        }
        settle(member);
    }

    /** Bookies answer such requests, and what these lead to; returns how many requests there were. */
    private int answered(Member member, Predicate<HeldRequest> which) throws Exception {
        int count = 0;
        for (boolean more = true; more;) {
            more = false;
            for (HeldRequest request : member.requests()) {
                if (which.test(request)) {
                    deliver(request);
                    more = true;
                    count++;
                }
            }
            ledgers.settle();
        }
        return count;
    }

    /** Nobody can be chosen, or of one entry the read or an add to a new bookie fails; the other entries' reads time out. */
    private void fail(Member member) throws Exception {
        if (reread(member) && member.waitsFor().equals("check")) {
            return;
        }
        if (member.waitsFor().startsWith("choose")) {
            if (!member.client.choices().isEmpty()) {
                throw new Refused("it can choose " + member.client.choices());
            }
            member.choose("nobody");
            settle(member);
            return;
        }
        expect(member, "copy");
        for (long entry = 0; entry < ledgers.entries; entry++) {
            long its = entry;
            if (answered(member, r -> r.entry == its && r.kind == HeldRequest.Kind.READ) == 0) {
                continue;
            }
            boolean silent = false;
            for (HeldRequest add : member.requests()) {
                if (add.entry == entry && add.kind == HeldRequest.Kind.RECOVERY_ADD && !takes(add.bookie)) {
                    deliver(add);
                    silent = true;
                }
            }
            ledgers.settle();
            if (silent || member.requests().stream().noneMatch(r -> r.entry == its)) {
                timeOut(member);
                settle(member);
                return;
            }
        }
        throw new Refused(member.client.name + " does not fail");
    }

    /** The store does what is asked; who makes a change that is not needed may have gone on without asking. */
    private void replace(Member member, boolean needed) throws Exception {
        if (!needed && List.of("check", Member.NOTHING).contains(member.waitsFor())) {
            return;
        }
        expect(member, "publish");
        finish(member);
        settle(member);
    }

    private void timeOut(Member member) throws Exception {
        for (List<HeldRequest> left = member.requests(); !left.isEmpty(); left = member.requests()) {
            left.forEach(request -> request.answer(BKException.Code.TimeoutException));
            ledgers.settle();
        }
    }

    /** What happens to copies on a disk. */
    private interface Damage {
        void to(RealBookie bookie) throws Exception;
    }

    /** The bookie does not know; one that is down finds its copies so when it starts. */
    private void damage(RealBookie bookie, Damage damage) throws Exception {
        if (bookie.isUp()) {
            damage.to(bookie);
        } else {
            damages.computeIfAbsent(bookie, b -> new ArrayList<>()).add(damage);
        }
    }

    private void start(RealBookie bookie) throws Exception {
        bookie.start();
        for (Damage damage : damages.getOrDefault(bookie, List.of())) {
            damage.to(bookie);
        }
        damages.remove(bookie);
    }

    private void endCollector(String bookie) throws Exception {
        Collector collector = collectors.remove(bookie);
        if (collector != null) {
            collector.end();
        }
    }

    private void lockSurplus(String bookie) throws Exception {
        endCollector(bookie);
        Collector collector = new Collector(ledgers, ledgers.bookies.get(bookie), conf, server);
        collectors.put(bookie, collector);
        if (collector.waitsFor() == null) {
            throw new Refused("the collector of " + bookie + " does not take the lock");
        }
    }

    /** As DataIntegrityCheckImpl.recoverLedgerIfInLimbo and checkAndRecoverLedgerEntries do for an entry that the bookie lacks. */
    private void refill(RealBookie bookie, long entry) throws Exception {
        if (!bookie.knows(ledgers.ledger)) {
            bookie.storage().setMasterKey(ledgers.ledger, new byte[0]);
        }
        GatedClient client = ledgers.client("integrity check of " + bookie.id);
        Versioned<LedgerMetadata> metadata = ledgers.metadata.of(ledgers.ledger);
        CompletableFuture<Long> copied = new EntryCopierImpl(bookie.id, client.getBookieClient(), bookie.storage(),
                Ticker.systemTicker()).newBatch(ledgers.ledger, metadata.getValue()).copyFromAvailable(entry);
        for (HeldRequest request : List.copyOf(ledgers.requests)) {
            if (request.owner == client && !request.answered) {
                deliver(request);
            }
        }
        ledgers.settle();
        if (!copied.isDone() || copied.isCompletedExceptionally()) {
            throw new Refused(bookie.id + " does not get e" + entry + " back");
        }
    }

    /** Whether the bookie stores what is added to it. */
    private boolean takes(BookieId id) {
        RealBookie bookie = ledgers.bookies.get(id.getId());
        return bookie.isUp() && !bookie.refuses(ledgers.ledger);
    }

    /** What AutoRecoveryMain does when it hears that the session is gone, and its operator after that. */
    private void shutDown(String name) throws Exception {
        end(members.get(name));
        start(name);
    }

    /** The worker is shut down while its client goes on; its requests stay unanswered. */
    private void end(Member former) throws Exception {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        new Thread(() -> {
            try {
                former.close();
                ended.complete(null);
            } catch (Exception e) {
                ended.completeExceptionally(e);
            }
        }, "shutdown").start();
        while (!ended.isDone()) {
            ledgers.settle();
            Thread.sleep(1);
        }
        ended.get();
        former.requests().forEach(request -> request.answered = true);
        ledgers.clients.remove(former.client.name);
    }

    // --- what can be seen

    private void tell(ObjectNode seen) throws Exception {
        LedgerMetadata metadata = ledgers.metadata.of(ledgers.ledger).getValue();
        ArrayNode ensemble = seen.putArray("ensemble");
        metadata.getAllEnsembles().get(0L).forEach(id -> ensemble.add(id.getId()));
        if (reader != null) {
            ArrayNode known = seen.putArray("handle");
            reader.handle.getLedgerMetadata().getAllEnsembles().get(0L).forEach(id -> known.add(id.getId()));
        }
        seen.put("closed", metadata.isClosed());
        seen.put("last", metadata.getLastEntryId());
        UnderreplicatedLedger task = tasks.getLedgerUnreplicationInfo(ledgers.ledger);
        String base = root + "/underreplication";
        Server.Node node = server.node(ZkLedgerUnderreplicationManager.getUrLedgerZnode(base + "/ledgers", ledgers.ledger));
        seen.put("task", node != null);
        seen.put("task_version", node == null ? 0 : node.version());
        ArrayNode missing = seen.putArray("missing");
        if (task != null) {
            task.getReplicaList().forEach(missing::add);
        }
        Server.Node lock = server.node(ZkLedgerUnderreplicationManager.getUrLedgerLockZnode(base + "/locks", ledgers.ledger));
        seen.put("lock", lock == null ? "nobody" : holder(lock.owner()));
        Set<String> known = auditor.known();
        ObjectNode bookies = seen.putObject("bookies");
        for (BookieId id : ledgers.inUse()) {
            RealBookie bookie = ledgers.bookies.get(id.getId());
            ObjectNode one = bookies.putObject(id.getId()).put("up", bookie.isUp()).put("known", known.contains(id.getId()));
            if (bookie.isUp()) {
                bookie.stored(ledgers.ledger, ledgers.entries).forEach(one.putArray("stored")::add);
                bookie.rotten(ledgers.ledger, ledgers.entries, digests).forEach(one.putArray("rotten")::add);
                one.put("loaded", bookie.loaded(ledgers.ledger)).put("refuses", bookie.refuses(ledgers.ledger));
            }
        }
        ArrayNode requests = seen.putArray("requests");
        ObjectNode workers = seen.putObject("workers");
        for (Map.Entry<String, Member> each : members.entrySet()) {
            Member member = each.getValue();
            workers.putObject(each.getKey()).put("zombie", member.isZombie(server)).put("version", member.taskVersion());
            if (!member.waitsFor().equals(Member.NOTHING)) {
                requests.add(each.getKey() + " " + member.waitsFor());
            }
            if (member instanceof Worker && ((Worker) member).worker.hasTimer()) {
                requests.add(each.getKey() + " release");
            }
        }
        collectors.forEach((bookie, collector) -> {
            if (collector.waitsFor() != null) {
                requests.add(bookie + " " + collector.waitsFor());
            }
        });
    }

    private String holder(long session) {
        for (Map.Entry<String, Member> each : members.entrySet()) {
            if (each.getValue() instanceof Worker && ((Worker) each.getValue()).session.getSessionId() == session) {
                return each.getKey();
            }
        }
        return collectors.entrySet().stream().filter(e -> e.getValue().has(session)).map(e -> "gc" + e.getKey().substring(1))
                .findFirst().orElse("another");
    }

    @Override
    public void close() {
        ledgers.close();
        server.close();
    }
}
