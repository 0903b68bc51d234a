package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lookups that wait at a channel. An event takes one out and completes it; what runs then (dedupeGetOwnerRequest) takes it out
 * once more. Here a step does that, as a thread would that is slow between the two.
 */
final class LateLookups extends ConcurrentHashMap<String, CompletableFuture<String>> {
    private static final long serialVersionUID = 1L;

    private final transient Map<String, Queue<Runnable>> late = new HashMap<>();
    /** The newer lookups that were taken out so. */
    private final transient Map<String, CompletableFuture<String>> dropped = new HashMap<>();

    @Override
    public CompletableFuture<String> remove(Object unit) {
        if (isOnceMore(unit)) {
            postpone((String) unit, () -> super.remove(unit));
            return null;
        }
        return super.remove(unit);
    }

    /** What 4.2.4 does. */
    @Override
    public boolean remove(Object unit, Object lookup) {
        if (isOnceMore(unit)) {
            postpone((String) unit, () -> super.remove(unit, lookup));
            return false;
        }
        return super.remove(unit, lookup);
    }

    /** Whether a lookup that is not there any more is taken out by what is left to do for it. */
    private boolean isOnceMore(Object unit) {
        return !containsKey(unit) && HeldStore.calledFrom("ServiceUnitStateChannelImpl", "dedupeGetOwnerRequest");
    }

    private void postpone(String unit, Runnable removal) {
        synchronized (late) {
            late.computeIfAbsent(unit, none -> new ArrayDeque<>()).add(removal);
        }
    }

    /** Does what is left to do for a lookup that has ended; false if there is none. */
    boolean endOne(String unit) {
        Runnable removal;
        synchronized (late) {
            removal = late.getOrDefault(unit, new ArrayDeque<>()).poll();
        }
        if (removal == null) {
            return false;
        }
        CompletableFuture<String> newer = get(unit);
        removal.run();
        if (newer != null && !containsKey(unit)) {
            dropped.put(unit, newer);
        }
        return true;
    }

    /** Whether there is something left to do for a lookup that has ended. */
    boolean hasLate(String unit) {
        synchronized (late) {
            return !late.getOrDefault(unit, new ArrayDeque<>()).isEmpty();
        }
    }

    /** Whether a lookup waits of which no event knows. */
    boolean hasDropped(String unit) {
        return dropped.containsKey(unit) && !dropped.get(unit).isDone();
    }

    boolean isPending(String unit) {
        return containsKey(unit) || hasDropped(unit);
    }
}
