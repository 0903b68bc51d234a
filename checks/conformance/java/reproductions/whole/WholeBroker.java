package fencepost;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.bookkeeper.bookie.InterleavedLedgerStorage;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.common.policies.data.ClusterData;
import org.apache.pulsar.common.policies.data.TenantInfo;
import org.apache.pulsar.metadata.bookkeeper.BKCluster;
import org.apache.pulsar.metadata.coordination.impl.Link;

/** ZooKeeper, a bookie and a broker as it is shipped, in this JVM and on the loopback interface; the broker's link can be cut. */
final class WholeBroker implements AutoCloseable {
    static final String CLUSTER = "c";
    static final String TENANT = "t";
    static final String NAMESPACE = TENANT + "/n";
    private static final int BOOKIES = 1;

    final Server zookeeper = new Server();
    final Link link = new Link(zookeeper.port());
    final PulsarService pulsar;
    private final BKCluster bookies;
    private final Set<Long> others;

    /** Starts all; {@code settings} changes the broker's configuration before it does. */
    WholeBroker(Consumer<ServiceConfiguration> settings) throws Exception {
        this(CLUSTER, settings);
    }

    /** The same as a cluster of that name. */
    WholeBroker(String cluster, Consumer<ServiceConfiguration> settings) throws Exception {
        bookies = BKCluster.builder().baseServerConfiguration(bookie()).metadataServiceUri("zk:127.0.0.1:" + zookeeper.port())
                .numBookies(BOOKIES).dataDir(Folders.fresh("bookie").getPath()).build();
        others = new HashSet<>(zookeeper.sessions());
        ServiceConfiguration configuration = broker(cluster, "zk:" + link.address());
        settings.accept(configuration);
        pulsar = new PulsarService(configuration);
        pulsar.start();
        var admin = pulsar.getAdminClient();
        admin.clusters().createCluster(cluster, data());
        admin.tenants().createTenant(TENANT, TenantInfo.builder().allowedClusters(Set.of(cluster)).build());
        admin.namespaces().createNamespace(NAMESPACE, Set.of(cluster));
    }

    /** Where clients find the cluster. */
    ClusterData data() {
        return ClusterData.builder().serviceUrl(pulsar.getWebServiceAddress()).brokerServiceUrl(pulsar.getBrokerServiceUrl()).build();
    }

    /** A bookie that is quick to start and listens on the loopback interface. */
    static ServerConfiguration bookie() {
        var configuration = new ServerConfiguration();
        configuration.setAdvertisedAddress("127.0.0.1");
        configuration.setListeningInterface("lo");
        configuration.setAllowLoopback(true);
        configuration.setLedgerStorageClass(InterleavedLedgerStorage.class.getName());
        configuration.setProperty("journalPreAllocSizeMB", 1);
        configuration.setMaxJournalSizeMB(64);
        configuration.setDiskUsageThreshold(0.999f);
        configuration.setDiskUsageWarnThreshold(0.998f);
        configuration.setMinUsableSizeForEntryLogCreation(1);
        configuration.setEntryLogFilePreAllocationEnabled(false);
        configuration.setHttpServerEnabled(false);
        return configuration;
    }

    private static ServiceConfiguration broker(String cluster, String metadata) {
        var configuration = new ServiceConfiguration();
        configuration.setClusterName(cluster);
        configuration.setMetadataStoreUrl(metadata);
        configuration.setConfigurationMetadataStoreUrl(metadata);
        configuration.setBrokerServicePort(Optional.of(0));
        configuration.setWebServicePort(Optional.of(0));
        configuration.setAdvertisedAddress("127.0.0.1");
        configuration.setBindAddress("127.0.0.1");
        configuration.setManagedLedgerDefaultEnsembleSize(BOOKIES);
        configuration.setManagedLedgerDefaultWriteQuorum(BOOKIES);
        configuration.setManagedLedgerDefaultAckQuorum(BOOKIES);
        // a small broker starts sooner
        configuration.setManagedLedgerCacheSizeMB(16);
        configuration.setNumIOThreads(2);
        configuration.setNumHttpServerThreads(8);
        configuration.setNumOrderedExecutorThreads(2);
        configuration.setNumExecutorThreadPoolSize(2);
        configuration.setSystemTopicEnabled(false);
        configuration.setTopicLevelPoliciesEnabled(false);
        configuration.setBrokerShutdownTimeoutMs(0);
        configuration.setDefaultNumberOfNamespaceBundles(1);
        // brokers of 3.0.7 do not start where the network card tells no speed
        configuration.setLoadBalancerOverrideBrokerNicSpeedGbps(Optional.of(1.0));
        configuration.setLoadBalancerSheddingEnabled(false);
        configuration.setLoadBalancerAutoBundleSplitEnabled(false);
        return configuration;
    }

    /** The broker's session with ZooKeeper; 0 while it has none. */
    private long session() {
        return zookeeper.sessions().stream().filter(each -> !others.contains(each)).findFirst().orElse(0L);
    }

    /** The server ends the broker's session, as it does when it hears nothing for too long; returns when there is a new one. */
    void expire() throws Exception {
        long before = session();
        if (before != 0) {
            zookeeper.expire(before);
        }
        Server.until("new session of the broker", () -> session() != 0);
    }

    @Override
    public void close() throws Exception {
        link.close();
    }
}
