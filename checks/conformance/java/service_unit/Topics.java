package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.common.naming.NamespaceBundle;

/** The topics of a broker: those of a unit are open, closed except for their clients, closed, or late to close, all together. */
class Topics extends BrokerService {
    /** A closing that the channel has asked for, which has not ended. */
    private record Closing(boolean isHalfway, CompletableFuture<Integer> ended) {
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

    /** The topics are closed halfway: their clients stay; false if nobody waits for that. */
    boolean detach(NamespaceBundle unit) {
        return end(unit, "attached", Closing::isHalfway);
    }

    /** The topics are closed with their clients, which ends a closing halfway, too; false if nobody waits for it. */
    boolean close(NamespaceBundle unit) {
        return isLeft(unit) && end(unit, "closed", each -> true);
    }

    /** The time is up, after which the closing ends as if it were done, as BrokerService.unloadServiceUnit has it. */
    boolean timeOut(NamespaceBundle unit) {
        return end(unit, "late", each -> true);
    }

    /** Topics that did not close in time are closed; false if there are none. */
    boolean closeLate(NamespaceBundle unit) {
        if (!state(unit).equals("late")) {
            return false;
        }
        if (!end(unit, "closed", each -> true)) {
            setState(unit, "closed");
        }
        return true;
    }

    private synchronized void setState(NamespaceBundle unit, String state) {
        states.put(unit.toString(), state);
    }

    /** Whether the topics are being closed with their clients. */
    private synchronized boolean isLeft(NamespaceBundle unit) {
        return asked(unit).stream().anyMatch(each -> !each.isHalfway());
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

    private boolean end(NamespaceBundle unit, String state, Predicate<Closing> which) {
        List<Closing> ended;
        synchronized (this) {
            ended = asked(unit).stream().filter(which).toList();
            if (ended.isEmpty()) {
                return false;
            }
            asked(unit).removeAll(ended);
            setState(unit, state);
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
        // PersistentTopic.close: who wants them closed halfway waits for what closes them entirely
        boolean isHalfway = !disconnect && !isLeft(unit);
        if (state.equals("closed") || isHalfway && !state.equals("open")) {
            return CompletableFuture.completedFuture(0);
        }
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        asked(unit).add(new Closing(isHalfway, ended));
        return ended;
    }

    @Override
    public void cleanUnloadedTopicFromCache(NamespaceBundle unit) {
    }

    @Override
    public void refreshTopicToStatsMaps(NamespaceBundle unit) {
    }
}
