package org.apache.bookkeeper.client;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.stats.NullStatsLogger;

/**
 * A worker pool as a queue: what is submitted runs when the queue is drained, in order, on whoever drains it, and no task runs
 * within another. Its timers never fire.
 */
public class StepExecutor extends OrderedExecutor {
    private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final ScheduledExecutorService one = bound(new One());
    private boolean draining;

    public StepExecutor() {
        super("steps", 1, new DefaultThreadFactory("steps", true), NullStatsLogger.INSTANCE, false, false, 1_000_000L, -1, false,
                false);
        super.shutdown(); // the thread that every pool starts takes no task here, and there is a pool for each run
    }

    @Override
    public final boolean isShutdown() {
        return false;
    }

    @Override
    public final boolean isTerminated() {
        return false;
    }

    /** The one thread that the pool seems to have. */
    public final ScheduledExecutorService executor() {
        return one;
    }

    @Override
    public final ExecutorService chooseThread() {
        return one;
    }

    @Override
    public final ExecutorService chooseThread(Object key) {
        return one;
    }

    @Override
    public final ExecutorService chooseThread(long key) {
        return one;
    }

    @Override
    public void execute(Runnable task) {
        add(task);
    }

    /** Queues a task. */
    public final void add(Runnable task) {
        queue.add(task);
    }

    /** What is queued never runs. */
    final void forget() {
        queue.clear();
    }

    /** Runs what is queued, and what that queues; returns whether there was anything. */
    public final boolean drain() {
        boolean any = false;
        boolean within = draining;
        draining = true;
        try {
            for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
                any = true;
                task.run();
            }
        } finally {
            draining = within;
        }
        return any;
    }

    /** Since BookKeeper 4.18.2 a thread of a pool says whether it is the current one, and then runs a task at once (executeOrRun). */
    private ScheduledExecutorService bound(ScheduledExecutorService plain) {
        try {
            Class<?> type = Class.forName("org.apache.bookkeeper.common.util.ThreadBoundExecutor");
            return (ScheduledExecutorService) Proxy.newProxyInstance(type.getClassLoader(),
                    new Class<?>[] {ScheduledExecutorService.class, type}, (proxy, method, arguments) -> {
                        if (method.getDeclaringClass() != type) {
                            return method.invoke(plain, arguments);
                        }
                        if (method.getName().equals("isCurrentThread")) {
                            return draining;
                        }
                        if (draining) {
                            ((Runnable) arguments[0]).run();
                        } else {
                            plain.execute((Runnable) arguments[0]);
                        }
                        return null;
                    });
        } catch (ClassNotFoundException e) {
            return plain;
        }
    }

    private final class One extends AbstractExecutorService implements ScheduledExecutorService {
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
            StepExecutor.this.execute(task);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            return new Never<>();
        }

        @Override
        public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
            return new Never<>();
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initialDelay, long period, TimeUnit unit) {
            return new Never<>();
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
            return new Never<>();
        }
    }

    private static final class Never<V> extends FutureTask<V> implements ScheduledFuture<V> {
        Never() {
            super(() -> null);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return Long.MAX_VALUE;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }
}
