package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Server;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.pulsar.metadata.api.extended.SessionEvent;

/** A broker as the metadata store knows it: a process with its store, the link to the server, and the sessions that it has had. */
abstract class Client {
    final String name;
    final Server server;
    final List<Long> former = new ArrayList<>();
    private final HeldStore.Concern concern;
    HeldStore store;
    HeldExecutor executor;
    /** The threads of the process, beside the store's and its executor's. */
    final List<Probe> threads = new ArrayList<>();
    /** The session of the process that runs, or that ran last. */
    long session;
    private Wire link;
    /** Whether the server has let the session of the running process expire, and the broker has no new one to its knowledge. */
    private boolean expired;
    /** Whether the step that is taken may do something to the process; another one's comes to it over its link alone. */
    boolean acts = true;
    /** How much its link had carried to it when it was last found to wait. */
    private long atRest = -1;

    Client(String name, Server server, HeldStore.Concern concern) {
        this.name = name;
        this.server = server;
        this.concern = concern;
    }

    boolean lives() {
        return store != null;
    }

    /** Whether what the broker asks is carried out and answered. */
    boolean reaches() {
        return lives() && link.isUp() && !expired;
    }

    /** Whether that is a session of this process, or of one before it. */
    boolean had(long id) {
        return session == id || former.contains(id);
    }

    /** The process starts, with a new session. */
    void start() throws Exception {
        if (session != 0) {
            former.add(session);
        }
        link = Wire.to(server);
        store = new HeldStore(link.address(), concern);
        executor = new HeldExecutor();
        threads.clear();
        session = store.getZkSessionId();
        expired = false;
    }

    /** Takes a step of sessions and connections; false if it is none. */
    boolean takes(String step, JsonNode request) throws Exception {
        switch (step) {
            case "start":
                start();
                return true;
            case "die":
                die();
                return true;
            case "disconnect":
                disconnect(request.path("arrived").asBoolean());
                return true;
            case "lose":
                store.loseByClock();
                return true;
            case "reconnect":
                back(SessionEvent.Reconnected);
                return true;
            case "resume":
                back(SessionEvent.SessionReestablished);
                return true;
            case "expire":
                expire();
                return true;
            case "expire-former":
                expireFormer();
                return true;
            case "learn":
                back(SessionEvent.SessionLost);
                return true;
            case "reestablish":
                reestablish();
                return true;
            default:
                return false;
        }
    }

    /** The process dies, and leaves its session. */
    void die() throws Exception {
        store.die();
        link.close();
        gone();
    }

    /** The process ends, and closes its session if it can. */
    void end() throws Exception {
        if (link.isUp()) {
            store.end();
            if (!expired) {
                server.gone(session);
            }
        } else {
            store.die();
        }
        link.close();
        gone();
    }

    void gone() {
        store = null;
        executor.shutdownNow();
    }

    /** The connection breaks, and the broker is told; of what has changed it may have heard already. */
    private void disconnect(boolean arrived) throws Exception {
        store.cut(link);
        if (!arrived) {
            store.dropNews();
        }
        store.learn(SessionEvent.ConnectionLost);
    }

    /** A request takes effect, and the connection breaks before it is answered. */
    void unheard(HeldStore.Held held, Callable<Boolean> effect) throws Exception {
        store.sendUnheard(held, link, effect);
        store.learn(SessionEvent.ConnectionLost);
    }

    /** The same of a request that the store carries out alone: it is answered with the loss of the connection. */
    void aloneUnheard(HeldStore.Held held, Callable<Boolean> effect) throws Exception {
        store.sendAloneUnheard(held, link, effect);
        store.learn(SessionEvent.ConnectionLost);
    }

    /** The connection is there again, and the broker is told of all up to that event. */
    private void back(SessionEvent event) throws Exception {
        link.mend();
        store.learn(event);
    }

    /** A broker whose session is gone has a new one, and is told. */
    void reestablish() throws Exception {
        link.mend();
        // up to 4.0.8 the event may come before the client has the new session, and then the watch is set on the old one
        Server.until("new session", () -> store.getZkSessionId() != session && server.has(store.getZkSessionId()));
        store.learn(SessionEvent.SessionReestablished);
        expired = false;
        session = store.getZkSessionId();
    }

    /** The session that the store has of this broker expires; a process that lives is cut off, and finds out later. */
    void expire() throws Exception {
        if (lives()) {
            expired = true;
            if (link.isUp()) {
                store.cut(link);
            }
        }
        server.expire(session);
    }

    void expireFormer() throws Exception {
        for (long each : former) {
            server.expire(each);
        }
        former.clear();
    }

    /**
     * Waits until each thread of the broker has done what it was given so far; whether that was anything since this was last
     * asked. If not, all of them wait: what one does comes of what another does, or of a step.
     */
    boolean moved() throws Exception {
        boolean any = store.moved(reaches());
        threads.forEach(Probe::ask);
        for (Probe each : threads) {
            any |= each.moved();
        }
        return any | executor.moved();
    }

    /** Waits until nothing more comes unless something is done. */
    final void quiet() throws Exception {
        while (moved()) {
            // what has moved may have given another thread something to do
        }
    }

    /** Lets go what is not held; whether there was any. */
    abstract boolean pass() throws Exception;

    /** Waits until this broker waits, having let go what is not held. */
    final void settle() throws Exception {
        settle(List.of(this));
    }

    /** Waits until all of the brokers that live wait, having let go what is not held. */
    static void settle(Collection<? extends Client> brokers) throws Exception {
        List<Client> living = new ArrayList<>(brokers);
        living.removeIf(each -> !each.lives());
        int next = 0;
        for (int waiting = 0; waiting < living.size(); next = (next + 1) % living.size()) {
            Client each = living.get(next);
            waiting = each.rests() || !each.stirs() ? waiting + 1 : 0;
        }
    }

    /** Whether it waits as it did when it was last asked: nothing was done to it since, and its link has carried nothing to it. */
    boolean rests() {
        return !acts && link.carried() == atRest;
    }

    private boolean stirs() throws Exception {
        long expected = link.carried() + (reaches() ? 1 : 0); // the answer to the question that its store asks
        boolean any = moved() | pass();
        atRest = any ? -1 : Math.max(expected, -1);
        return any;
    }

    void tell(ObjectNode told) throws Exception {
        told.put("lives", lives());
        told.put("session", session != 0 && server.has(session));
        told.put("former_session", former.stream().anyMatch(server::has));
        if (lives()) {
            told.put("link", store.state());
        }
    }
}
