package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The executor of an election: what is to be done later is done when it is told to. */
final class HeldExecutor extends ScheduledThreadPoolExecutor {
    private static final long NEVER_DAYS = 1000;

    private final Queue<Runnable> later = new ArrayDeque<>();
    /** How many tasks it was given to do at once, and how many it has done. */
    private final AtomicLong given = new AtomicLong();
    private final AtomicLong done = new AtomicLong();
    private final Probe thread;
    /** How many it had been given when it was last found to have done all. */
    private long last = -1;

    HeldExecutor() throws Exception {
        super(1, task -> {
            Thread thread = new Thread(task, "election");
            thread.setDaemon(true);
            return thread;
        });
        setRemoveOnCancelPolicy(true);
        thread = Probe.of(this);
    }

    /** Waits until its thread has done what it was given so far; whether that was anything since this was last asked. */
    boolean moved() throws Exception {
        long now = given.get();
        if (now == last && now == done.get()) {
            return false; // its thread waits, and need not be asked
        }
        thread.ask();
        boolean any = thread.moved();
        last = now + 1;
        return any;
    }

    @Override
    protected void afterExecute(Runnable task, Throwable thrown) {
        done.incrementAndGet();
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        if (unit.toMillis(delay) == 0) {
            given.incrementAndGet();
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
        if (unit.toMillis(delay) == 0) {
            given.incrementAndGet();
            return super.schedule(task, delay, unit);
        }
        return super.schedule(() -> null, NEVER_DAYS, TimeUnit.DAYS);
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
