package org.apache.bookkeeper.client;

import com.google.common.util.concurrent.MoreExecutors;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/** What the threads of a broker would do. Writes that wait for the topic's executor are in a queue of their own. */
public final class Tasks extends StepExecutor {
    private final Queue<Runnable> arrivals = new ArrayDeque<>();
    private final OrderedScheduler scheduler = Bare.of(OrderedScheduler.class);
    private boolean publishing;

    public Tasks() throws Exception {
        ExecutorService[] threads = {MoreExecutors.listeningDecorator(executor())};
        Bare.set(OrderedExecutor.class, scheduler, "threads", threads);
        Bare.set(OrderedExecutor.class, scheduler, "threadIds", new long[1]);
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

    @Override
    public void execute(Runnable task) {
        if (publishing) {
            arrivals.add(task);
        } else {
            add(task);
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

    public OrderedScheduler scheduler() {
        return scheduler;
    }
}
