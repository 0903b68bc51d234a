package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.common.naming.NamespaceBundle;

/** The topics of a broker: those of a unit are open, closed except for their clients, closed, or late to close, all together. */
class Topics extends BrokerService {
    /** A closing that the channel has asked for, which has not ended. */
    private record Closing(boolean disconnect, CompletableFuture<Integer> ended) {
    }

    private Map<String, String> states;
    private Map<String, List<Closing>> closings;

    private Topics() throws Exception {
        super(null, null);
    }

    static Topics none() {
        Topics topics = Bare.of(Topics.class);
        topics.states = new HashMap<>();
        topics.closings = new HashMap<>();
        return topics;
    }

    synchronized String state(NamespaceBundle unit) {
        return states.getOrDefault(unit.toString(), "closed");
    }

    /** Whether the channel waits for topics to close. */
    synchronized boolean closing(NamespaceBundle unit) {
        return !asked(unit).isEmpty();
    }

    /** Opens the topics; false if there are some that are fenced, which BrokerService.getTopic finds in its map, or close. */
    synchronized boolean open(NamespaceBundle unit) {
        if (!state(unit).equals("closed") || closing(unit)) {
            return false;
        }
        states.put(unit.toString(), "open");
        return true;
    }

    /** The topics are closed, with their clients if anybody wants that; false if nobody waits for it. */
    boolean close(NamespaceBundle unit) {
        boolean disconnect;
        synchronized (this) {
            disconnect = asked(unit).stream().anyMatch(Closing::disconnect);
        }
        return end(unit, disconnect ? "closed" : "attached", true);
    }

    /** The time is up, after which the closing ends as if it were done, as BrokerService.unloadServiceUnit has it. */
    boolean timeOut(NamespaceBundle unit) {
        return end(unit, "late", true);
    }

    /** Topics that did not close in time are closed; false if there are none. */
    boolean closeLate(NamespaceBundle unit) {
        return state(unit).equals("late") && end(unit, "closed", false);
    }

    /** The topics of one unit are those of another one from now on; who waits for them to close waits for those. */
    synchronized void move(NamespaceBundle from, NamespaceBundle to) {
        String state = states.remove(from.toString());
        if (state != null && !state.equals("closed")) {
            states.put(to.toString(), state);
        }
        asked(to).addAll(asked(from));
        asked(from).clear();
    }

    private boolean end(NamespaceBundle unit, String state, boolean asked) {
        List<Closing> ended;
        synchronized (this) {
            ended = List.copyOf(asked(unit));
            if (ended.isEmpty() && asked) {
                return false;
            }
            asked(unit).clear();
            states.put(unit.toString(), state);
        }
        ended.forEach(each -> each.ended().complete(1));
        return true;
    }

    private List<Closing> asked(NamespaceBundle unit) {
        return closings.computeIfAbsent(unit.toString(), name -> new ArrayList<>());
    }

    @Override
    public synchronized CompletableFuture<Integer> unloadServiceUnit(
            NamespaceBundle unit, boolean disconnect, boolean hurry, long timeout, TimeUnit inUnits) {
        String state = state(unit);
        if (state.equals("closed") || !disconnect && !state.equals("open")) {
            return CompletableFuture.completedFuture(0);
        }
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        asked(unit).add(new Closing(disconnect, ended));
        return ended;
    }

    @Override
    public void cleanUnloadedTopicFromCache(NamespaceBundle unit) {
    }

    @Override
    public void refreshTopicToStatsMaps(NamespaceBundle unit) {
    }
}
