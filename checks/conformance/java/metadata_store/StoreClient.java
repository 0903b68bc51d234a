package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Refused;
import fencepost.Server;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.pulsar.metadata.api.GetResult;
import org.apache.pulsar.metadata.api.MetadataStoreException;
import org.apache.pulsar.metadata.api.Notification;
import org.apache.pulsar.metadata.api.NotificationType;
import org.apache.pulsar.metadata.api.Stat;
import org.apache.pulsar.metadata.api.extended.CreateOption;
import org.apache.pulsar.metadata.api.extended.SessionEvent;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** A client that is nothing else: it asks the store for what it is told to, and remembers what it was told last. */
final class StoreClient extends Client {
    private static final String NOBODY = "nobody";

    /** What a client has been told of a path: by answers, by notifications and by session events, on the store's threads. */
    private static final class Known {
        private String request = "none";
        private String knows = NOBODY;
        private boolean mine;
        private long version;
        /** Whether a request is under way that is meant for what is known: then that is kept in mind. */
        private boolean keeps;

        private void forget() {
            knows = NOBODY;
            mine = false;
            version = 0;
        }

        private void learn(String holder, Stat stat) {
            knows = holder;
            mine = stat.isCreatedBySelf();
            version = stat.getVersion();
        }
    }

    private final String prefix;
    /** The version that the lasting node had as the run began. */
    private final long base;
    private final Map<String, Known> known = new LinkedHashMap<>();
    private final List<String> events = new ArrayList<>();

    StoreClient(String name, Server server, String prefix, Iterable<String> places, long base) {
        super(name, server, new StoreRequests(prefix));
        this.prefix = prefix;
        this.base = base;
        known.put(StoreRequests.LASTING, new Known());
        places.forEach(place -> known.put(place, new Known()));
    }

    String path(String place) {
        return place.equals(StoreRequests.LASTING) ? place : prefix + place;
    }

    @Override
    void start() throws Exception {
        super.start();
        known.replaceAll((place, former) -> new Known());
        events.clear();
        store.registerListener(this::heard);
        store.registerSessionListener(this::told);
    }

    private synchronized void heard(Notification notification) {
        String path = notification.getPath();
        Known of = known.get(path.startsWith(prefix) ? path.substring(prefix.length()) : path);
        boolean lasts = path.equals(StoreRequests.LASTING);
        boolean tells = notification.getType() == (lasts ? NotificationType.Modified : NotificationType.Deleted);
        if (of != null && tells && !of.keeps) {
            of.forget();
        }
    }

    private synchronized void told(SessionEvent event) {
        events.add(event.toString());
        if (event == SessionEvent.Reconnected || event == SessionEvent.SessionReestablished) {
            known.values().stream().filter(of -> !of.keeps).forEach(Known::forget);
        }
    }

    /** Asks for something of a path. */
    void ask(String place, String what) {
        Known of = known.get(place);
        switch (what) {
            case StoreRequests.CREATE:
                answered(of, store.put(path(place), value(), Optional.of(-1L), EnumSet.of(CreateOption.Ephemeral)),
                        stat -> of.learn(name, stat));
                break;
            case StoreRequests.READ:
                answered(of, store.get(path(place)), found -> read(of, found));
                break;
            case StoreRequests.DELETE:
                of.keeps = true;
                answered(of, store.delete(path(place), Optional.of(of.version)), nothing -> { });
                break;
            case StoreRequests.WRITE:
                boolean lasts = place.equals(StoreRequests.LASTING);
                of.keeps = lasts;
                answered(of, store.put(path(place), value(), Optional.of(of.version),
                                lasts ? EnumSet.noneOf(CreateOption.class) : EnumSet.of(CreateOption.Ephemeral)),
                        stat -> of.learn(name, stat));
                break;
            default:
                throw new IllegalArgumentException("no such request: " + what);
        }
    }

    private byte[] value() {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private static void read(Known of, Optional<GetResult> found) {
        of.forget();
        found.ifPresent(node -> of.learn(new String(node.getValue(), StandardCharsets.UTF_8), node.getStat()));
    }

    private <T> void answered(Known of, CompletableFuture<T> answer, java.util.function.Consumer<T> done) {
        of.request = null;
        answer.whenComplete((value, error) -> {
            synchronized (this) {
                of.request = error == null ? "done" : word(error);
                if (of.keeps) {
                    of.keeps = false;
                    of.forget();
                }
                if (error == null) {
                    done.accept(value);
                }
            }
        });
    }

    private static String word(Throwable error) {
        Throwable cause = error instanceof CompletionException ? error.getCause() : error;
        if (cause instanceof MetadataStoreException.BadVersionException) {
            return "bad_version";
        }
        return cause instanceof MetadataStoreException.NotFoundException ? "not_found" : "failed";
    }

    /** Makes the node that lasts. */
    void makeLasting() throws Exception {
        store.put(StoreRequests.LASTING, value(), Optional.of(-1L));
        store.send(store.requests().get(0));
    }

    /** Takes a step of a request; throws {@code Refused} if there is no such request. */
    boolean lets(String step, String place, String what) throws Exception {
        if (step.equals("hear")) {
            if (!store.hasNews(path(place))) {
                throw new Refused(name + " has nothing to hear of: " + place);
            }
            store.hear(path(place));
            return true;
        }
        if (step.equals("ask")) {
            ask(place, what);
            return true;
        }
        Held held = store.requests().stream()
                .filter(each -> each.path().equals(path(place)) && each.kind().equals(what)).findFirst()
                .orElseThrow(() -> new Refused(name + " has no request outstanding: " + what));
        switch (step) {
            case "let":
                store.send(held);
                // of its own write of the lasting node a client knows already
                boolean changes = what.equals(StoreRequests.WRITE) && place.equals(StoreRequests.LASTING);
                if (changes && !held.op().getFuture().isCompletedExceptionally()) {
                    store.dropLatestNews(path(place));
                }
                return true;
            case "let-unheard":
                letUnheard(held, path(place));
                return true;
            case "fail":
                store.fail(held);
                return true;
            default:
                return false;
        }
    }

    /** The server tells who watches of a deletion, or of a change, before it answers. */
    private void letUnheard(Held held, String path) throws Exception {
        switch (held.kind()) {
            case StoreRequests.DELETE:
                unheard(held, () -> server.node(path) == null && store.hasNews(path));
                break;
            case StoreRequests.WRITE:
                long before = store.news(path);
                int version = server.node(path).version();
                unheard(held, () -> server.node(path).version() > version && store.news(path) > before);
                store.dropLatestNews(path);
                break;
            default:
                unheard(held, () -> server.node(path) != null);
        }
    }

    /** Nothing is let go by itself. */
    @Override
    boolean pass() {
        return false;
    }

    @Override
    synchronized void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (!lives()) {
            return;
        }
        ArrayNode heard = told.putArray("events");
        events.forEach(heard::add);
        ObjectNode each = told.putObject("paths");
        for (String place : known.keySet()) {
            Known of = known.get(place);
            boolean lasts = place.equals(StoreRequests.LASTING);
            ObjectNode about = lasts ? told.putObject("lasting") : each.putObject(place);
            about.put("news", store.hasNews(path(place)));
            about.put("request", of.request == null ? "out" : of.request);
            about.put("knows", of.knows);
            about.put("mine", of.mine);
            about.put("version", of.version);
            about.put("saw", of.knows.equals(NOBODY) ? -1 : of.version - base);
            var names = new TreeSet<String>();
            for (Held held : store.requests()) {
                if (held.path().equals(path(place)) && !names.add(held.kind())) {
                    names.add("another-" + held.kind());
                }
            }
            names.forEach(about.putArray("requests")::add);
        }
    }
}
