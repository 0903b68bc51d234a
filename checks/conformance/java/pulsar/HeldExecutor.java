package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The executor of an election: what is to be done later is done when it is told to. */
final class HeldExecutor extends ScheduledThreadPoolExecutor {
    private static final long NEVER_DAYS = 1000;

    private final Queue<Runnable> later = new ArrayDeque<>();

    HeldExecutor() {
        super(1, task -> {
            Thread thread = new Thread(task, "election");
            thread.setDaemon(true);
            return thread;
        });
        setRemoveOnCancelPolicy(true);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        if (unit.toMillis(delay) == 0) {
            return super.schedule(task, delay, unit);
        }
        synchronized (later) {
            later.add(task);
        }
        return super.schedule(() -> { }, NEVER_DAYS, TimeUnit.DAYS);
    }

    /** The timer by which a lock is looked after again (ResourceLockImpl) is no part of any run. */
    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return unit.toMillis(delay) == 0 ? super.schedule(task, delay, unit) : super.schedule(() -> null, NEVER_DAYS, TimeUnit.DAYS);
    }

    /** The refresh of the cache every few minutes is no part of any run. */
    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
        return super.scheduleWithFixedDelay(task, NEVER_DAYS, NEVER_DAYS, TimeUnit.DAYS);
    }

    boolean hasDelayed() {
        synchronized (later) {
            return !later.isEmpty();
        }
    }

    /** Does the first of what is to be done later. */
    void advance() throws Exception {
        Runnable task;
        synchronized (later) {
            task = later.remove();
        }
        submit(task).get(HeldStore.SECONDS, TimeUnit.SECONDS);
    }
}
