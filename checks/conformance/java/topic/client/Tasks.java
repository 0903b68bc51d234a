package org.apache.bookkeeper.client;

import com.google.common.util.concurrent.MoreExecutors;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/**
 * What the threads of a broker would do, as tasks of one queue that is drained between steps: nothing runs by itself, and no task
 * runs within another. Writes that wait for the topic's executor are in a queue of their own. Timers never fire.
 */
public final class Tasks {
    private final Queue<Runnable> due = new ArrayDeque<>();
    private final Queue<Runnable> arrivals = new ArrayDeque<>();
    private final ScheduledExecutorService one = new One();
    private final OrderedExecutor pool = new Pool();
    private final OrderedScheduler scheduler = Bare.of(OrderedScheduler.class);
    private boolean publishing;

    public Tasks() throws Exception {
        ExecutorService[] threads = {MoreExecutors.listeningDecorator(one)};
        Bare.set(OrderedExecutor.class, scheduler, "threads", threads);
        Bare.set(OrderedExecutor.class, scheduler, "threadIds", new long[1]);
    }

    public void add(Runnable task) {
        due.add(task);
    }

    /** What a publication gives the topic's executor arrives there by a step of the run. */
    public void publish(Runnable publication) {
        publishing = true;
        try {
            publication.run();
        } finally {
            publishing = false;
        }
    }

    /** The next write reaches the topic's executor; returns whether there was one. */
    public boolean arrive() {
        Runnable task = arrivals.poll();
        if (task != null) {
            task.run();
        }
        return task != null;
    }

    /** How many writes wait for the topic's executor. */
    public int waiting() {
        return arrivals.size();
    }

    public void drain() {
        for (Runnable task = due.poll(); task != null; task = due.poll()) {
            task.run();
        }
    }

    public ScheduledExecutorService executor() {
        return one;
    }

    public OrderedScheduler scheduler() {
        return scheduler;
    }

    OrderedExecutor pool() {
        return pool;
    }

    private void execute(Runnable task) {
        (publishing ? arrivals : due).add(task);
    }

    private final class One extends ScheduledThreadPoolExecutor {
        One() {
            super(0);
        }

        @Override
        public void execute(Runnable task) {
            Tasks.this.execute(task);
        }

        @Override
        public Future<?> submit(Runnable task) {
            FutureTask<?> future = new FutureTask<>(task, null);
            execute(future);
            return future;
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

    private final class Pool extends OrderedExecutor {
        Pool() {
            super("steps", 1, new DefaultThreadFactory("steps", true), NullStatsLogger.INSTANCE, false, false, 1_000_000L, -1,
                    false, false);
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
            Tasks.this.execute(task);
        }
    }
}
