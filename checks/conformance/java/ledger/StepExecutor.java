package org.apache.bookkeeper.client;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.stats.NullStatsLogger;

/** The client's worker pool as a queue: what is submitted runs when the queue is drained, in order, on whoever drains it. */
final class StepExecutor extends OrderedExecutor {
    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();

    private final ExecutorService one = new AbstractExecutorService() {
        @Override
        public void shutdown() {
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }

        @Override
        public void execute(Runnable task) {
            queue.add(task);
        }
    };

    StepExecutor() {
        super("steps", 1, new DefaultThreadFactory("steps", true), NullStatsLogger.INSTANCE, false, false, 1_000_000L, -1, false,
                false);
    }

    @Override
    public ExecutorService chooseThread() {
        return one;
    }

    @Override
    public ExecutorService chooseThread(Object key) {
        return one;
    }

    @Override
    public ExecutorService chooseThread(long key) {
        return one;
    }

    @Override
    public void execute(Runnable task) {
        queue.add(task);
    }

    /** What is queued never runs. */
    void forget() {
        queue.clear();
    }

    /** Runs what is queued, and what that queues; returns whether there was anything. */
    boolean drain() {
        boolean any = false;
        for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
            any = true;
            task.run();
        }
        return any;
    }
}
