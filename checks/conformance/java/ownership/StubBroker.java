package org.apache.pulsar.metadata.coordination.impl;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pulsar.broker.loadbalance.LoadManager;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.api.extended.SessionEvent;

/**
 * What an OwnershipCache asks of the broker around it. The broker's own classes are made without their constructors, which would
 * start one: of them only what is overridden here is used, and NamespaceService.unloadNamespaceBundle.
 */
final class StubBroker {
    private StubBroker() {
    }

    /** The cache of a broker with that name, over these locks. */
    static OwnershipCache cache(String name, CoordinationService locks, Topics topics, MetadataStoreExtended store,
            ScheduledExecutorService executor) throws Exception {
        Pulsar pulsar = Bare.of(Pulsar.class);
        pulsar.name(name, locks);
        pulsar.topics = topics;
        pulsar.executor = executor;
        store.registerSessionListener(pulsar::hear);
        pulsar.namespaces = Bare.of(Namespaces.class);
        OwnershipCache cache = new OwnershipCache(pulsar, pulsar.namespaces);
        pulsar.namespaces.cache = cache;
        Bare.set(NamespaceService.class, pulsar.namespaces, "ownershipCache", cache);
        Bare.set(NamespaceService.class, pulsar.namespaces, "pulsar", pulsar);
        Bare.set(NamespaceService.class, pulsar.namespaces, "config", pulsar.getConfiguration());
        cache.refreshSelfOwnerInfo();
        return cache;
    }

    static final class Pulsar extends UnstartedService {
        private Namespaces namespaces;
        private Topics topics;
        private ScheduledExecutorService executor;
        private volatile boolean lost;
        private volatile long losses;

        @Override
        public NamespaceService getNamespaceService() {
            return namespaces;
        }

        @Override
        public BrokerService getBrokerService() {
            return topics;
        }

        /** Asked since 5.0.1: a broker that has heard that its session is lost acquires nothing. */
        public boolean isMetadataSessionLost() {
            return lost;
        }

        public long getMetadataSessionLossCount() {
            return losses;
        }

        /** Where what is done to a bundle, one after the other, ends. */
        @Override
        public ScheduledExecutorService getExecutor() {
            return executor;
        }

        void hear(SessionEvent event) {
            if (event == SessionEvent.SessionLost) {
                losses++;
                lost = true;
            } else if (event == SessionEvent.SessionReestablished) {
                lost = false;
            }
        }

        @Override
        public AtomicReference<LoadManager> getLoadManager() {
            return new AtomicReference<>();
        }
    }

    static final class Namespaces extends NamespaceService {
        private OwnershipCache cache;

        private Namespaces() {
            super(null);
        }

        @Override
        public OwnershipCache getOwnershipCache() {
            return cache;
        }

        @Override
        public void onNamespaceBundleOwned(NamespaceBundle bundle) {
        }

        @Override
        public void onNamespaceBundleUnload(NamespaceBundle bundle) {
        }
    }

    /** No topics; but to close them may take until it is told to end. */
    static final class Topics extends BrokerService {
        private Queue<CompletableFuture<Integer>> closing;
        private boolean slow;

        private Topics() throws Exception {
            super(null, null);
        }

        static Topics none() throws Exception {
            Topics topics = Bare.of(Topics.class);
            topics.closing = new ArrayDeque<>();
            return topics;
        }

        /** From now on, or no longer, to close the topics of a bundle takes until {@code closed}. */
        void slow(boolean now) {
            slow = now;
        }

        /** The topics of what was unloaded first are closed; false if there is none. */
        boolean closed() {
            return !closing.isEmpty() && closing.remove().complete(0);
        }

        @Override
        public CompletableFuture<Integer> unloadServiceUnit(
                NamespaceBundle bundle, boolean disconnect, boolean hurry, long timeout, TimeUnit unit) {
            if (!slow) {
                return CompletableFuture.completedFuture(0);
            }
            CompletableFuture<Integer> closed = new CompletableFuture<>();
            closing.add(closed);
            return closed;
        }

        @Override
        public void cleanUnloadedTopicFromCache(NamespaceBundle bundle) {
        }

        // --- since 5.0.1 with the topics that there were as it began

        public Map<String, CompletableFuture<Optional<Topic>>> getTopicFuturesInBundle(NamespaceBundle bundle) {
            return Map.of();
        }

        public CompletableFuture<Integer> unloadServiceUnit(NamespaceBundle bundle, boolean disconnect, boolean hurry, long timeout,
                TimeUnit unit, Map<String, CompletableFuture<Optional<Topic>>> of) {
            return unloadServiceUnit(bundle, disconnect, hurry, timeout, unit);
        }

        public void cleanUnloadedTopicFromCache(NamespaceBundle bundle, Map<String, CompletableFuture<Optional<Topic>>> of) {
        }
    }
}
