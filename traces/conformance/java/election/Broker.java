package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.pulsar.metadata.api.extended.SessionEvent;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Kind;

/** A broker, as far as it takes part in the election: its store, its election, and the sessions that it has had. */
final class Broker {
    final String name;
    final List<Long> former = new ArrayList<>();
    private final Server server;
    private final String path;
    private HeldStore store;
    private HeldExecutor executor;
    private LeaderElectionImpl<String> election;
    /** The session of the process that runs, or that ran last. */
    long session;
    /** Whether the server has let the session of the running process expire, and the broker has no new one to its knowledge. */
    private boolean expired;
    /** Whether a read of the cache is the one that follows a creation. */
    private boolean confirms;
    /** Whether the next election by a session event is the second of a pair, which is not held. */
    private boolean looksTwice;

    Broker(String name, Server server, String path) {
        this.name = name;
        this.server = server;
        this.path = path;
    }

    boolean lives() {
        return store != null;
    }

    /** The process starts and proposes itself. */
    void start() throws Exception {
        if (session != 0) {
            former.add(session);
        }
        store = new HeldStore(server.address(), path);
        executor = new HeldExecutor();
        session = store.getZkSessionId();
        expired = false;
        confirms = false;
        looksTwice = false;
        election = new LeaderElectionImpl<>(store, String.class, path, state -> { }, executor);
        election.elect(name);
    }

    /** Lets the request of that kind go; false if there is none. */
    boolean let(Kind kind) throws Exception {
        List<Held> meant = store.requests().stream().filter(r -> r.kind().name.equals(kind.name)).toList();
        if (meant.isEmpty()) {
            return false;
        }
        confirms = kind == Kind.CREATE;
        if (kind == Kind.CACHE) {
            for (Held read : meant) {
                store.send(read);
            }
        } else {
            looksTwice |= meant.get(0).kind() == Kind.LOOK_AFTER_EVENT;
            store.send(meant.get(0));
        }
        return true;
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
        if (!store.hasNews()) {
            return false;
        }
        store.hear();
        return true;
    }

    void close() {
        election.asyncClose();
    }

    /** The process dies, and leaves its session. */
    void die() {
        store.die();
        gone();
    }

    /** The process ends, and closes its session. */
    void end() throws Exception {
        store.close();
        if (!expired) {
            server.gone(session);
        }
        gone();
    }

    private void gone() {
        store = null;
        election = null;
        executor.shutdownNow();
    }

    /** The session that the store has of this broker expires; a process that lives finds out later. */
    void expire() throws Exception {
        expired = lives();
        if (expired) {
            // it was cut off for longer than the timeout
            store.deafen(true);
        }
        server.expire(session);
    }

    void expireFormer() throws Exception {
        for (long each : former) {
            server.expire(each);
        }
        former.clear();
    }

    void learn() throws Exception {
        store.learn(SessionEvent.SessionLost);
    }

    void reestablish() throws Exception {
        store.deafen(false);
        store.learn(SessionEvent.SessionReestablished);
        expired = false;
        session = store.getZkSessionId();
        looksTwice = false;
    }

    /** Lets go what is not held: reads of the cache that confirm nothing, and the second look of a pair. Whether any was. */
    boolean pass() throws Exception {
        boolean any = false;
        for (Held held : store.requests()) {
            boolean second = held.kind() == Kind.LOOK_AFTER_EVENT && looksTwice;
            if (second || (held.kind() == Kind.CACHE && !confirms)) {
                looksTwice &= !second;
                store.send(held);
                any = true;
            }
        }
        return any;
    }

    /** How much has come to this broker; after {@code quiet} nothing more comes unless something is done. */
    int arrived() throws Exception {
        return store.arrived() + (executor.hasDelayed() ? 1 : 0);
    }

    void quiet() throws Exception {
        for (int i = 0; i < 2; i++) {
            store.quiet(!expired);
            executor.quiet();
        }
    }

    void tell(ObjectNode told) throws Exception {
        told.put("lives", lives());
        told.put("session", session != 0 && server.has(session));
        told.put("former_session", former.stream().anyMatch(server::has));
        if (!lives()) {
            return;
        }
        told.put("role", election.getState().toString());
        var stage = LeaderElectionImpl.class.getDeclaredField("internalState");
        stage.setAccessible(true);
        told.put("stage", stage.get(election).toString());
        told.put("cached", election.getLeaderValueIfPresent().orElse("nobody"));
        told.put("deletion", store.hasNews());
        var names = new TreeSet<String>();
        for (Held held : store.requests()) {
            // several reads of the cache are one to the broker; of anything else there is one for each election under way
            if (!names.add(held.kind().name) && held.kind() != Kind.CACHE) {
                names.add("another-" + held.kind().name);
            }
        }
        if (executor.hasDelayed()) {
            names.add("retry");
        }
        var requests = told.putArray("requests");
        names.forEach(requests::add);
    }
}
