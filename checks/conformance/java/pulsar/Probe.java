package org.apache.pulsar.metadata.coordination.impl;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.bookkeeper.common.util.SingleThreadExecutor;

/** What tells whether a thread has done anything since it was last asked: it is asked as a task, and counts those before. */
final class Probe {
    private final ExecutorService thread;
    private final LongSupplier done;
    private long last = -1;
    private Future<Long> answer;

    private Probe(ExecutorService thread, LongSupplier done) {
        this.thread = thread;
        this.done = done;
    }

    /** Of an executor with one thread, which may be wrapped as those of {@code Executors} are. */
    static Probe of(ExecutorService thread) throws Exception {
        if (thread instanceof SingleThreadExecutor single) {
            return new Probe(thread, () -> single.getCompletedTasksCount() + single.getFailedTasksCount());
        }
        var pool = (ThreadPoolExecutor) (thread instanceof ThreadPoolExecutor ? thread : HeldStore.field(thread, "e"));
        return new Probe(thread, pool::getCompletedTaskCount);
    }

    /** Asks the thread, so that several can be asked before any answer is waited for. */
    void ask() {
        answer = thread.submit(done::getAsLong);
    }

    /** Waits until the thread has done what it was given before it was asked; whether that was anything but this question. */
    boolean moved() throws Exception {
        long before = last;
        last = answer.get(HeldStore.SECONDS, TimeUnit.SECONDS);
        return last != before + 1;
    }
}
