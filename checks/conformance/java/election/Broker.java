package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import fencepost.Refused;
import fencepost.Server;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.pulsar.metadata.api.coordination.LeaderElectionState;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** A broker, as far as it takes part in the election. */
final class Broker extends Client {
    private final String path;
    /** What it proposes: its name, unless all brokers propose the same. */
    private final String value;
    private LeaderElectionImpl<String> election;
    private Lookup lookup;
    /** Whether a read of the cache is the one that follows a creation. */
    private boolean confirms;
    /** Whether the broker has been asked to close its election. */
    private boolean closing;

    Broker(String name, Server server, String path, String value) {
        super(name, server, new Requests(path));
        this.path = path;
        this.value = value;
    }

    /** The process starts and proposes itself. */
    @Override
    void start() throws Exception {
        super.start();
        confirms = false;
        closing = false;
        election = election();
        election.elect(value);
        lookup = Lookup.at(name, election, executor);
    }

    /** Since 5.0.1 a service makes elections, and hears for them; before, each heard for itself. */
    @SuppressWarnings("unchecked")
    private LeaderElectionImpl<String> election() throws Exception {
        Consumer<LeaderElectionState> listener = state -> { };
        var constructor = LeaderElectionImpl.class.getDeclaredConstructors()[0];
        if (constructor.getParameterTypes()[0] == MetadataStoreExtended.class) {
            return (LeaderElectionImpl<String>) constructor.newInstance(store, String.class, path, listener, executor);
        }
        var service = new CoordinationServiceImpl(store);
        Bare.set(CoordinationServiceImpl.class, service, "executor", executor);
        return (LeaderElectionImpl<String>) service.getLeaderElection(String.class, path, listener);
    }

    /** A lookup of a bundle that nobody owns has come here; {@code choice} is what the load manager would choose. */
    Lookup lookUp(boolean authoritative, Set<String> active, String choice) throws Exception {
        lookup.begin(authoritative, active, choice);
        quiet();
        return lookup;
    }

    /** What it knows of the leader expires; refused where nothing of it ever does. */
    void forget() throws Exception {
        Object cache;
        try {
            cache = HeldStore.field(election, "cache");
        } catch (NoSuchFieldException e) {
            throw new Refused(name + " reads the leader in no cache");
        }
        var values = (AsyncLoadingCache<?, ?>) HeldStore.field(cache, "objCache");
        if (values.synchronous().policy().expireAfterWrite().isEmpty()) {
            throw new Refused("nothing expires in the cache in which " + name + " reads the leader");
        }
        values.synchronous().invalidateAll();
    }

    /** Lets the request of that kind go; false if there is none. */
    boolean let(String kind) throws Exception {
        List<Held> meant = store.requests().stream().filter(r -> Requests.shown(r.kind()).equals(kind)).toList();
        if (meant.isEmpty()) {
            return false;
        }
        if (!atClose(kind)) {
            confirms = kind.equals(Requests.CREATE);
        }
        if (kind.equals(Requests.CACHE)) {
            for (Held read : meant) {
                store.send(read);
            }
        } else {
            store.send(meant.get(0));
        }
        return true;
    }

    /** A request of that kind takes effect, and the connection breaks before it is answered; false if there is none. */
    boolean letUnheard(String kind) throws Exception {
        List<Held> meant = store.requests().stream().filter(r -> Requests.shown(r.kind()).equals(kind)).toList();
        if (meant.isEmpty()) {
            return false;
        }
        boolean creates = kind.equals(Requests.CREATE);
        // the server tells who watches of a deletion before it answers
        unheard(meant.get(0), () -> creates ? server.node(path) != null : server.node(path) == null && store.hasNews(path));
        return true;
    }

    /**
     * What the election waits for is answered with: the session is gone. So is what it asks for after that, except the look of the
     * election that a session event begins next. False if it waits for nothing.
     */
    boolean fail() throws Exception {
        boolean any = false;
        List<Held> out = underWay();
        while (!out.isEmpty()) {
            for (Held held : out) {
                store.fail(held);
            }
            quiet();
            any = true;
            out = underWay().stream().filter(held -> !held.kind().equals(Requests.LOOK_AFTER_EVENT)).toList();
        }
        return any;
    }

    private List<Held> underWay() {
        return store.requests().stream().filter(held -> !atClose(held.kind())).toList();
    }

    private static boolean atClose(String kind) {
        return kind.equals(Requests.GIVE_BACK) || kind.equals(Requests.LOOK_AT_CLOSE);
    }

    /** The five seconds after a failure are over; false if none is waited for. */
    boolean retry() throws Exception {
        if (!executor.hasDelayed()) {
            return false;
        }
        executor.advance();
        return true;
    }

    /** The broker hears that the node was deleted; false if there is no such news. */
    boolean hear() throws Exception {
        if (!store.hasNews(path)) {
            return false;
        }
        store.hear(path);
        return true;
    }

    void close() {
        closing = true;
        election.asyncClose();
    }

    @Override
    void gone() {
        super.gone();
        election = null;
    }

    /** Lets go what is not held: reads of the cache that confirm nothing. Whether there was any. */
    @Override
    boolean pass() throws Exception {
        boolean any = false;
        for (Held held : reaches() ? store.requests() : List.<Held>of()) {
            if (held.kind().equals(Requests.CACHE) && !confirms) {
                store.send(held);
                any = true;
            }
        }
        return any;
    }

    @Override
    void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (!lives()) {
            return;
        }
        told.put("role", election.getState().toString());
        var stage = LeaderElectionImpl.class.getDeclaredField("internalState");
        stage.setAccessible(true);
        told.put("stage", stage.get(election).toString());
        if (value.equals(name)) {
            told.put("cached", election.getLeaderValueIfPresent().orElse("nobody"));
        }
        told.put("deletion", store.hasNews(path));
        told.put("closing", closing);
        var names = new TreeSet<String>();
        for (Held held : store.requests()) {
            // several reads of the cache are one to the broker; of anything else there is one for each election under way
            String name = Requests.shown(held.kind());
            if (!names.add(name) && !name.equals(Requests.CACHE)) {
                names.add("another-" + name);
            }
        }
        if (executor.hasDelayed()) {
            names.add("retry");
        }
        var requests = told.putArray("requests");
        names.forEach(requests::add);
    }
}
