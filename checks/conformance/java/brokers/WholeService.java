package org.apache.pulsar.metadata.coordination.impl;

import io.opentelemetry.api.OpenTelemetry;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.broker.service.PulsarMetadataEventSynchronizer;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/**
 * A whole broker, started, with the modular load manager. Its metadata store is one that holds requests, and what a split has
 * done later or by another thread waits; all else goes on as it does.
 */
final class WholeService extends PulsarService {
    private final HeldStore store;
    private final HeldExecutor executor;
    private final HeldWork work;

    WholeService(String zookeeper, HeldStore store, HeldExecutor executor, HeldWork work) {
        super(configuration(zookeeper));
        this.store = store;
        this.executor = executor;
        this.work = work;
    }

    private static ServiceConfiguration configuration(String zookeeper) {
        var configuration = new ServiceConfiguration();
        configuration.setClusterName("conform");
        configuration.setMetadataStoreUrl("zk:" + zookeeper);
        configuration.setConfigurationMetadataStoreUrl("zk:" + zookeeper);
        configuration.setBrokerServicePort(Optional.of(0));
        configuration.setWebServicePort(Optional.of(0));
        configuration.setAdvertisedAddress("127.0.0.1");
        configuration.setBindAddress("127.0.0.1");
        configuration.setManagedLedgerDefaultEnsembleSize(1);
        configuration.setManagedLedgerDefaultWriteQuorum(1);
        configuration.setManagedLedgerDefaultAckQuorum(1);
        configuration.setManagedLedgerCacheSizeMB(16);
        configuration.setNumIOThreads(2);
        configuration.setNumHttpServerThreads(6);
        configuration.setNumOrderedExecutorThreads(2);
        configuration.setNumExecutorThreadPoolSize(2);
        configuration.setNumCacheExecutorThreadPoolSize(1);
        configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName());
        configuration.setLoadBalancerAutoBundleSplitEnabled(false);
        configuration.setLoadBalancerSheddingEnabled(false);
        configuration.setSystemTopicEnabled(false);
        configuration.setTopicLevelPoliciesEnabled(false);
        configuration.setBrokerShutdownTimeoutMs(0);
        return configuration;
    }

    @Override
    public MetadataStoreExtended createLocalMetadataStore(PulsarMetadataEventSynchronizer synchronizer, OpenTelemetry telemetry) {
        try {
            // newer releases have two stores in one, for a migration
            Class<?> both = Class.forName("org.apache.pulsar.metadata.impl.DualMetadataStore");
            var made = both.getConstructors()[0].newInstance(store, MetadataStoreConfig.builder().build());
            return (MetadataStoreExtended) made;
        } catch (ClassNotFoundException e) {
            return store;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean splits() {
        return HeldStore.calledFrom("NamespaceService", "splitAndOwnBundle");
    }

    @Override
    public ScheduledExecutorService getExecutor() {
        return splits() ? executor : super.getExecutor();
    }

    @Override
    public OrderedExecutor getOrderedExecutor() {
        return splits() ? work : super.getOrderedExecutor();
    }
}
