package org.apache.pulsar.metadata.coordination.impl;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.metrics.Meter;
import java.lang.reflect.Proxy;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.pulsar.broker.loadbalance.LoadManager;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.stats.PulsarBrokerOpenTelemetry;
import org.apache.pulsar.compaction.Compactor;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/**
 * What a NamespaceService asks of the broker around it, which is not started. The NamespaceService, its NamespaceBundleFactory and
 * its OwnershipCache are made with their constructors.
 */
final class BareService extends UnstartedService {
    private HeldStore store;
    private HeldExecutor executor;
    private HeldWork work;
    private PulsarResources resources;
    private AtomicReference<LoadManager> loadManager;
    private PulsarBrokerOpenTelemetry telemetry;
    private HeldTopics topics;
    private NamespaceService namespaces;

    static BareService around(String name, HeldStore store, HeldExecutor executor, HeldWork work) throws Exception {
        BareService service = Bare.of(BareService.class);
        service.name(name, proxy(CoordinationService.class, type -> new LockManagerImpl<>(store, type, executor)));
        service.store = store;
        service.executor = executor;
        service.work = work;
        service.resources = new PulsarResources(store, store);
        service.loadManager = new AtomicReference<>(proxy(LoadManager.class, none -> null));
        service.telemetry = Bare.of(Silence.class);
        service.topics = HeldTopics.none(service);
        // since 5.0.1 a split waits so long for the release of its old bundle, and goes on
        service.getConfiguration().setMetadataStoreOperationTimeoutSeconds(0);
        service.namespaces = new NamespaceService(service);
        service.namespaces.initialize();
        return service;
    }

    private interface Answer {
        Object of(Class<?> type);
    }

    /** Something whose methods have one answer each, which is for a class if they are given one. */
    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(BareService.class.getClassLoader(), new Class<?>[] {type},
                (proxy, method, arguments) ->
                        answer.of(arguments != null && arguments[0] instanceof Class ? (Class<?>) arguments[0] : null)));
    }

    HeldTopics topics() {
        return topics;
    }

    @Override
    public MetadataStoreExtended getLocalMetadataStore() {
        return store;
    }

    @Override
    public PulsarResources getPulsarResources() {
        return resources;
    }

    @Override
    public ScheduledExecutorService getExecutor() {
        return executor;
    }

    @Override
    public OrderedExecutor getOrderedExecutor() {
        return work;
    }

    @Override
    public AtomicReference<LoadManager> getLoadManager() {
        return loadManager;
    }

    @Override
    public PulsarBrokerOpenTelemetry getOpenTelemetry() {
        return telemetry;
    }

    @Override
    public NamespaceService getNamespaceService() {
        return namespaces;
    }

    @Override
    public BrokerService getBrokerService() {
        return topics;
    }

    @Override
    public Compactor getNullableCompactor() {
        return null;
    }

    /** Nothing is measured. */
    private static final class Silence extends PulsarBrokerOpenTelemetry {
        private Silence() {
            super(null, null);
        }

        @Override
        public Meter getMeter() {
            return OpenTelemetry.noop().getMeter("none");
        }
    }
}
