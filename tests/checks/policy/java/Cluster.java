import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.ArrayList;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.client.api.AuthenticationFactory;
import org.apache.pulsar.client.api.ClientBuilder;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.common.policies.data.AutoFailoverPolicyData;
import org.apache.pulsar.common.policies.data.AutoFailoverPolicyType;
import org.apache.pulsar.common.policies.data.ClusterData;
import org.apache.pulsar.common.policies.data.FailureDomain;
import org.apache.pulsar.common.policies.data.NamespaceIsolationData;
import org.apache.pulsar.common.policies.data.TenantInfo;
import org.apache.pulsar.zookeeper.LocalBookkeeperEnsemble;

/** Real brokers in one JVM, with topics that are written to; prints where they are, and ends with its standard input. */
public class Cluster {
    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        String manager = arguments[1];
        String[] keys = arguments.length > 2 ? new String[] {arguments[2], arguments[3]} : new String[0];
        LocalBookkeeperEnsemble ensemble = ensemble();
        ensemble.start();
        List<PulsarService> brokers = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            PulsarService broker = new PulsarService(configuration(ensemble, manager, keys));
            broker.start();
            brokers.add(broker);
            if (number == 0) {
                PulsarAdmin admin = broker.getAdminClient();
                try {
                    admin.clusters().createCluster("c", ClusterData.builder()
                            .serviceUrl(broker.getWebServiceAddress()).brokerServiceUrl(broker.getBrokerServiceUrl()).build());
                } catch (Exception exists) {
                    // the extensible manager has made it, with its system topics
                }
                admin.tenants().createTenant("t", TenantInfo.builder().allowedClusters(Set.of("c")).build());
                admin.namespaces().createNamespace("t/n", 4);
                admin.namespaces().createNamespace("t/other", 2);
                admin.namespaces().setNamespaceAntiAffinityGroup("t/other", "group");
                admin.clusters().createFailureDomain("c", "rack",
                        FailureDomain.builder().brokers(Set.of(broker.getBrokerId())).build());
                admin.clusters().createNamespaceIsolationPolicy("c", "own", NamespaceIsolationData.builder()
                        .namespaces(List.of("t/other")).primary(List.of("elsewhere")).secondary(List.of())
                        .autoFailoverPolicy(AutoFailoverPolicyData.builder().policyType(AutoFailoverPolicyType.min_available)
                                .parameters(Map.of("min_limit", "1", "usage_threshold", "90")).build()).build());
            }
        }
        ClientBuilder builder = PulsarClient.builder().serviceUrl(brokers.get(0).getBrokerServiceUrl());
        PulsarClient client = keys.length == 0 ? builder.build()
                : builder.authentication(AuthenticationFactory.token(keys[1])).build();
        for (int topic = 0; topic < 8; topic++) {
            Producer<byte[]> producer = client.newProducer().topic("persistent://t/n/topic-" + topic).create();
            for (int message = 0; message < 20; message++) {
                producer.send(new byte[100 * (topic + 1)]);
            }
        }
        for (PulsarService broker : brokers) {
            broker.getBrokerService().updateRates();
        }
        StringBuilder where = new StringBuilder("READY");
        for (PulsarService broker : brokers) {
            where.append(' ').append(broker.getWebServiceAddress());
        }
        System.out.println(where);
        System.out.flush();
        while (System.in.read() >= 0) {
            // whoever started this is still there
        }
        Runtime.getRuntime().halt(0);
    }

    /** One bookie and its ZooKeeper, on free ports; 5.0 needs nobody to choose those. */
    private static LocalBookkeeperEnsemble ensemble() throws ReflectiveOperationException {
        Class<LocalBookkeeperEnsemble> kind = LocalBookkeeperEnsemble.class;
        try {
            return kind.getConstructor(int.class, int.class).newInstance(1, 0);
        } catch (NoSuchMethodException before) {
            Supplier<Integer> free = () -> 0;
            return kind.getConstructor(int.class, int.class, Supplier.class).newInstance(1, 0, free);
        }
    }

    /** With keys, a secret and the token of a superuser, it lets nobody do what is not allowed. */
    private static ServiceConfiguration configuration(LocalBookkeeperEnsemble ensemble, String manager, String[] keys) {
        ServiceConfiguration made = new ServiceConfiguration();
        made.setClusterName("c");
        made.setMetadataStoreUrl("zk:127.0.0.1:" + ensemble.getZookeeperPort());
        made.setConfigurationMetadataStoreUrl("zk:127.0.0.1:" + ensemble.getZookeeperPort());
        made.setBrokerServicePort(Optional.of(0));
        made.setWebServicePort(Optional.of(0));
        made.setAdvertisedAddress("127.0.0.1");
        made.setBindAddress("127.0.0.1");
        made.setManagedLedgerDefaultEnsembleSize(1);
        made.setManagedLedgerDefaultWriteQuorum(1);
        made.setManagedLedgerDefaultAckQuorum(1);
        made.setNumIOThreads(2);
        made.setNumHttpServerThreads(6);
        made.setNumOrderedExecutorThreads(2);
        made.setNumExecutorThreadPoolSize(2);
        made.setNumCacheExecutorThreadPoolSize(1);
        made.setManagedLedgerCacheSizeMB(16);
        made.setLoadManagerClassName(manager);
        if (manager.endsWith("ExtensibleLoadManagerImpl")) {
            made.setLoadBalancerLoadSheddingStrategy(
                    "org.apache.pulsar.broker.loadbalance.extensions.scheduler.TransferShedder");
        } else {
            made.setSystemTopicEnabled(false);
        }
        made.setTopicLevelPoliciesEnabled(false);
        made.setExposeBundlesMetricsInPrometheus(true);
        made.setLoadBalancerAutoBundleSplitEnabled(false);
        made.setLoadBalancerSheddingEnabled(false);
        made.setBrokerShutdownTimeoutMs(0);
        if (keys.length > 0) {
            made.setAuthenticationEnabled(true);
            made.setAuthorizationEnabled(true);
            made.setAuthenticationProviders(Set.of("org.apache.pulsar.broker.authentication.AuthenticationProviderToken"));
            made.setSuperUserRoles(Set.of("super"));
            made.getProperties().setProperty("tokenSecretKey", "data:;base64," + keys[0]);
            made.setBrokerClientAuthenticationPlugin("org.apache.pulsar.client.impl.auth.AuthenticationToken");
            made.setBrokerClientAuthenticationParameters("token:" + keys[1]);
        }
        return made;
    }
}
