package org.apache.pulsar.metadata.coordination.impl;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.pulsar.common.naming.NamespaceBundle;

/** The executor of a BrokerService: its timers, none of which goes off by the clock. */
final class Timers {
    final EventLoopGroup executor = (EventLoopGroup) Proxy.newProxyInstance(Timers.class.getClassLoader(),
            new Class<?>[] {EventLoopGroup.class}, (proxy, method, arguments) -> {
                if (!method.getName().equals("schedule")) {
                    throw new UnsupportedOperationException(method.toString());
                }
                return scheduled((Runnable) arguments[0]);
            });
    private final List<Timer> all = new ArrayList<>();
    private NamespaceBundle unit;
    private boolean halfway;

    /** A timer of the unloading of a unit; what is unloaded has it cancelled. */
    static final class Timer extends DefaultPromise<Void> implements ScheduledFuture<Void> {
        final NamespaceBundle unit;
        final boolean halfway;
        private final Runnable task;

        private Timer(NamespaceBundle unit, boolean halfway, Runnable task) {
            super(ImmediateEventExecutor.INSTANCE);
            this.unit = unit;
            this.halfway = halfway;
            this.task = task;
        }

        void goOff() {
            task.run();
            trySuccess(null);
        }

        @Override
        public long getDelay(TimeUnit units) {
            return Long.MAX_VALUE;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }

    private synchronized Timer scheduled(Runnable task) {
        Timer timer = new Timer(unit, halfway, task);
        if (unit != null) {
            all.removeIf(Timer::isDone);
            all.add(timer);
        }
        return timer;
    }

    /** Closes the topics of a unit, maybe halfway; what that schedules is its timer. */
    synchronized <T> T of(NamespaceBundle of, boolean partly, Supplier<T> action) {
        unit = of;
        halfway = partly;
        try {
            return action.get();
        } finally {
            unit = null;
        }
    }

    /** The timers of unloadings that are not over, in their order. */
    synchronized List<Timer> waiting() {
        return all.stream().filter(each -> !each.isDone()).toList();
    }
}
