package org.apache.bookkeeper.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Folders;
import fencepost.Lines;
import fencepost.Refused;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.File;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.bookkeeper.common.util.OrderedScheduler;
import org.apache.bookkeeper.net.BookieId;

/**
 * One ledger at a time: real bookies, which stay, and real clients, which are new for each run. Nothing moves but by {@link #answer}.
 *
 * <p>A request is {@code {"steps": [...], "observe": true}}; each step has {@code do} and what that takes (see {@link Steps}). The
 * answer has {@code done}, how many steps were taken, {@code refused} if the next could not be, and {@code seen}.
 */
public final class LedgerBench implements Lines.Target {
    final OrderedScheduler scheduler = OrderedScheduler.newSchedulerBuilder().name("scheduler").numThreads(1)
            .threadFactory(new DefaultThreadFactory("scheduler", true)).build();

    final HeldMetadata metadata = new HeldMetadata();
    /** The threads of clients add to it, while the harness reads it. */
    final List<HeldRequest> requests = new CopyOnWriteArrayList<>();
    final Map<String, RealBookie> bookies = new LinkedHashMap<>();
    final Map<String, GatedClient> clients = new LinkedHashMap<>();
    /** Each run has a ledger of its own on the same bookies. */
    long ledger = 1;
    int entries;
    private int used;
    private final File root;
    private final String storage;
    private final Steps steps = new Steps(this);
    private final Sight sight = new Sight(this);
    /** Of clients that are gone; those of the next run have it again. */
    private final Deque<Reused> idle = new ArrayDeque<>();

    LedgerBench(String storage) throws Exception {
        this.storage = storage;
        root = Folders.fresh("bookies");
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(() -> new LedgerBench(arguments[0]));
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        int done = 0;
        try {
            for (JsonNode step : request.path("steps")) {
                steps.take(step);
                settle();
                done++;
            }
        } catch (Refused e) {
            answer.put("refused", e.getMessage());
            settle();
        }
        answer.put("done", done);
        if (request.path("observe").asBoolean()) {
            sight.tell(answer.putObject("seen"));
        }
    }

    /** Begins a run with so many bookies, all of them up, and no client; {@code synced} is whether they sync their journal. */
    void begin(int count, int most, boolean synced) throws Exception {
        clients.values().forEach(this::dismiss);
        clients.clear();
        requests.clear();
        metadata.clear();
        ledger++;
        entries = most;
        used = count;
        sight.forget();
        FastThreadLocal.removeAll(); // by which this thread keeps the entry loggers of bookies that were stopped
        for (int i = bookies.size(); i < count; i++) {
            bookies.put("b" + i, new RealBookie("b" + i, root, storage, synced));
        }
        for (RealBookie bookie : bookies.values()) {
            bookie.begin(synced);
        }
    }

    /** What a client that begins has of one that is gone. */
    Reused reused() throws ReflectiveOperationException {
        return idle.isEmpty() ? new Reused() : idle.pop();
    }

    private void dismiss(GatedClient client) {
        client.reused.forget();
        idle.push(client.reused);
    }

    /** The bookies of this run. */
    List<BookieId> inUse() {
        List<BookieId> names = new ArrayList<>();
        bookies.values().stream().limit(used).forEach(b -> names.add(b.id));
        return names;
    }

    GatedClient client(String name) throws Exception {
        GatedClient client = clients.get(name);
        if (client == null) {
            client = new GatedClient(name, this);
            clients.put(name, client);
        }
        return client;
    }

    /** A client of that name instead of the one that there may be. */
    GatedClient anew(String name) throws Exception {
        put(name, null);
        return client(name);
    }

    /** The client, if one is given, goes on in the place of the one of that name that there may be. */
    void put(String name, GatedClient client) {
        GatedClient former = client == null ? clients.remove(name) : clients.put(name, client);
        if (former != null) {
            dismiss(former);
        }
    }

    /** The clients run until every one of them waits; what went through the scheduler's thread is waited for. */
    void settle() throws Exception {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (GatedClient client : clients.values()) {
                moved |= client.executor.drain();
                if (client.scheduled) {
                    client.scheduled = false;
                    scheduler.submit(() -> { }).get();
                    moved = true;
                }
            }
        }
    }

    @Override
    public void close() {
        for (RealBookie bookie : bookies.values()) {
            if (bookie.isUp()) {
                bookie.stop();
            }
        }
        Folders.delete(root);
    }
}
