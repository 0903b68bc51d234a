package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Server;
import java.util.List;
import java.util.TreeSet;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** A broker, as far as it takes part in the election. */
final class Broker extends Client {
    private final String path;
    private LeaderElectionImpl<String> election;
    /** Whether a read of the cache is the one that follows a creation. */
    private boolean confirms;
    /** Whether the broker has been asked to close its election. */
    private boolean closing;

    Broker(String name, Server server, String path) {
        super(name, server, new Requests(path));
        this.path = path;
    }

    /** The process starts and proposes itself. */
    @Override
    void start() throws Exception {
        super.start();
        confirms = false;
        closing = false;
        election = new LeaderElectionImpl<>(store, String.class, path, state -> { }, executor);
        election.elect(name);
    }

    /** Lets the request of that kind go; false if there is none. */
    boolean let(String kind) throws Exception {
        List<Held> meant = store.requests().stream().filter(r -> Requests.shown(r.kind()).equals(kind)).toList();
        if (meant.isEmpty()) {
            return false;
        }
        if (!kind.equals(Requests.GIVE_BACK)) {
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
        return store.requests().stream().filter(held -> !held.kind().equals(Requests.GIVE_BACK)).toList();
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
    int arrived() throws Exception {
        return super.arrived() + (executor.hasDelayed() ? 1 : 0);
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
        told.put("cached", election.getLeaderValueIfPresent().orElse("nobody"));
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
