package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The futures that an action has time out (CompletableFuture.orTimeout): the JDK alone knows them. */
final class Timeouts {
    private static final int IN_THE_POOL = 25;

    private Timeouts() {
    }

    static Set<CompletableFuture<?>> during(RecordRequests.Action action) throws Exception {
        if (Runtime.version().feature() >= IN_THE_POOL) {
            return of(keptFromThePool(action), "runnable");
        }
        Set<CompletableFuture<?>> before = onTheExecutor();
        action.take();
        Set<CompletableFuture<?>> found = onTheExecutor();
        found.removeAll(before);
        return found;
    }

    /** Up to JDK 24 they are on one executor. */
    private static Set<CompletableFuture<?>> onTheExecutor() throws Exception {
        var delayer = Class.forName("java.util.concurrent.CompletableFuture$Delayer").getDeclaredField("delayer");
        delayer.setAccessible(true);
        List<Object> tasks = new ArrayList<>();
        for (Runnable timer : ((ScheduledThreadPoolExecutor) delayer.get(null)).getQueue()) {
            tasks.add(HeldStore.field(timer, "callable"));
        }
        return of(tasks, "task");
    }

    /**
     * Since JDK 25 a thread of the common pool has them in a heap of its own, and takes them from a list. Another such thread, which
     * is never started, gets what is scheduled during the action; then the right one gets it.
     */
    private static List<Object> keptFromThePool(RecordRequests.Action action) throws Exception {
        ForkJoinPool pool = ForkJoinPool.commonPool();
        new CompletableFuture<Void>().orTimeout(0, TimeUnit.NANOSECONDS); // so that there is such a thread
        var place = ForkJoinPool.class.getDeclaredField("delayScheduler");
        place.setAccessible(true);
        Object right = place.get(pool);
        var made = right.getClass().getDeclaredConstructor(ForkJoinPool.class, String.class);
        made.setAccessible(true);
        Object other = made.newInstance(pool, "timeouts");
        place.set(pool, other);
        try {
            action.take();
        } finally {
            place.set(pool, right);
        }
        List<Object> tasks = new ArrayList<>();
        for (Object task = HeldStore.field(other, "pending"); task != null; task = HeldStore.field(task, "nextPending")) {
            tasks.add(task);
        }
        for (Object task : tasks) {
            var pend = right.getClass().getDeclaredMethod("pend", task.getClass());
            pend.setAccessible(true);
            pend.invoke(right, task);
        }
        return tasks;
    }

    private static Set<CompletableFuture<?>> of(List<Object> tasks, String name) throws Exception {
        Set<CompletableFuture<?>> found = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Object task : tasks) {
            Object timer = HeldStore.field(task, name);
            if (timer != null && timer.getClass().getName().endsWith("$Timeout")) {
                found.add((CompletableFuture<?>) HeldStore.field(timer, "f"));
            }
        }
        return found;
    }
}
