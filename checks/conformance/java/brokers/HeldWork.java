package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.bookkeeper.common.util.OrderedExecutor;

/** The executor on which a split goes on: what is to be done there waits until it is told to. */
final class HeldWork extends OrderedExecutor {
    private Queue<Runnable> waiting;

    private HeldWork() {
        super(null, 0, null, null, false, false, 0L, 0, false, false);
    }

    /** An executor without threads. */
    static HeldWork none() throws Exception {
        HeldWork work = Bare.of(HeldWork.class);
        work.waiting = new ArrayDeque<>();
        return work;
    }

    @Override
    public void execute(Runnable task) {
        synchronized (waiting) {
            waiting.add(task);
        }
    }

    boolean waits() {
        synchronized (waiting) {
            return !waiting.isEmpty();
        }
    }

    /** Does the first of what is to be done. */
    void advance() {
        Runnable task;
        synchronized (waiting) {
            task = waiting.remove();
        }
        task.run();
    }
}
