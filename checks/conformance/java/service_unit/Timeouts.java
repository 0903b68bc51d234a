package org.apache.pulsar.metadata.coordination.impl;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The futures that are to time out (CompletableFuture.orTimeout): the JDK keeps them, until JDK 24 on one executor. */
final class Timeouts {
    private Timeouts() {
    }

    static Set<CompletableFuture<?>> running() throws Exception {
        Set<CompletableFuture<?>> found = Collections.newSetFromMap(new IdentityHashMap<>());
        var delayer = Class.forName("java.util.concurrent.CompletableFuture$Delayer").getDeclaredField("delayer");
        delayer.setAccessible(true);
        for (Runnable timer : ((ScheduledThreadPoolExecutor) delayer.get(null)).getQueue()) {
            Object task = HeldStore.field(HeldStore.field(timer, "callable"), "task");
            if (task.getClass().getName().endsWith("$Timeout")) {
                found.add((CompletableFuture<?>) HeldStore.field(task, "f"));
            }
        }
        return found;
    }
}
