package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** An executor of a broker: what it is given is kept until a step has it done; what is to be tried later is done at once. */
final class Jobs extends ScheduledThreadPoolExecutor {
    private final List<Runnable> kept = new ArrayList<>();

    Jobs() {
        super(1, task -> thread(task, "jobs"));
    }

    /** A thread that keeps no JVM from ending. */
    static Thread thread(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void execute(Runnable task) {
        synchronized (kept) {
            kept.add(task);
        }
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        task.run();
        return super.schedule(() -> null, 0, unit);
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException("nothing is asked for that gives a value");
    }

    int waiting() {
        synchronized (kept) {
            return kept.size();
        }
    }

    /** Takes out what came at that place. */
    Runnable take(int place) {
        synchronized (kept) {
            return kept.remove(place);
        }
    }
}
