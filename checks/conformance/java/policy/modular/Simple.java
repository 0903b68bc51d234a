package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.cache.CacheBuilder;
import com.google.common.cache.CacheLoader;
import com.google.common.cache.LoadingCache;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pulsar.broker.cache.BundlesQuotas;
import org.apache.pulsar.broker.loadbalance.ResourceUnit;
import org.apache.pulsar.broker.loadbalance.impl.PulsarResourceDescription;
import org.apache.pulsar.broker.loadbalance.impl.SimpleLoadManagerImpl;
import org.apache.pulsar.broker.loadbalance.impl.SimpleResourceAllocationPolicies;
import org.apache.pulsar.broker.loadbalance.impl.SimpleResourceUnit;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.client.admin.Namespaces;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.policies.data.ResourceQuota;
import org.apache.pulsar.metadata.api.coordination.LockManager;
import org.apache.pulsar.policies.data.loadbalancer.LoadReport;
import org.apache.pulsar.policies.data.loadbalancer.NamespaceBundleStats;
import org.apache.pulsar.policies.data.loadbalancer.ResourceUsage;
import org.apache.pulsar.policies.data.loadbalancer.SystemResourceUsage;

/**
 * SimpleLoadManagerImpl over rounds: it ranks the brokers of a round's reports, sheds, places bundles, and splits those of one broker.
 * What it asks of the store has no answer, so that it takes what is configured, and the quotas of a new cluster.
 */
final class Simple {
    private Simple() {
    }

    /** What comes before the name of a broker in that of its resource unit: in 2.10 it is the broker's URL. */
    private static final String SCHEME = Made.has(SimpleLoadManagerImpl.class, "getBrokerAddress") ? "http://" : "";

    /** No namespace is isolated. */
    static class NoPolicies extends SimpleResourceAllocationPolicies {
        NoPolicies() {
            super(null);
        }

        @Override
        public boolean areIsolationPoliciesPresent(NamespaceName namespace) {
            return false;
        }

        @Override
        public boolean isSharedBroker(String broker) {
            return true;
        }

        /** Before 5.0.1 there is no such method. */
        public boolean isPrimaryBrokerIdInAnyPolicy(String broker) {
            return false;
        }
    }

    /** Every bundle has the quota of a new one. */
    static class NewQuotas extends BundlesQuotas {
        NewQuotas() {
            super(null);
        }

        @Override
        public CompletableFuture<ResourceQuota> getDefaultResourceQuota() {
            try {
                ResourceQuota initial = (ResourceQuota) Made.field(BundlesQuotas.class, "INITIAL_QUOTA").get(null);
                return CompletableFuture.completedFuture(initial);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public CompletableFuture<ResourceQuota> getResourceQuota(String bundle) {
            return getDefaultResourceQuota();
        }
    }

    /** Knows the quotas alone. */
    static class Quotas extends BrokerService {
        BundlesQuotas quotas;

        Quotas() throws Exception {
            super(null, null);
        }

        @Override
        public BundlesQuotas getBundlesQuotas() {
            return quotas;
        }
    }

    /** A broker whose administrator writes down what is asked. */
    static class Broker extends Splitting.Broker {
        BrokerService service;
        Set<String> unloaded;
        Set<String> split;

        @Override
        public BrokerService getBrokerService() {
            return service;
        }

        /** 2.10 has no such method. */
        public String getBrokerId() {
            return "none";
        }

        /** Only before 3.0. */
        public String getSafeWebServiceAddress() {
            return "none";
        }

        @Override
        public String getAdvertisedAddress() {
            return "none";
        }

        @Override
        public PulsarAdmin getAdminClient() {
            ClassLoader loader = Simple.class.getClassLoader();
            Object asked = Proxy.newProxyInstance(loader, new Class<?>[] {Namespaces.class}, (proxy, method, arguments) -> {
                Set<String> names = method.getName().equals("unloadNamespaceBundle") ? unloaded : split;
                names.add(arguments[0] + "/" + arguments[1]);
                return null;
            });
            return (PulsarAdmin) Proxy.newProxyInstance(
                    loader, new Class<?>[] {PulsarAdmin.class}, (proxy, method, arguments) -> asked);
        }
    }

    private static Broker broker(JsonNode asked) throws Exception {
        Broker made = Made.bare(Broker.class);
        made.settings = Made.configuration(asked.get("conf"));
        Quotas quotas = Made.bare(Quotas.class);
        quotas.quotas = Made.bare(NewQuotas.class);
        made.service = quotas;
        return made;
    }

    private static ResourceUsage usage(JsonNode of) {
        return new ResourceUsage(Made.number(of.get(0)), Made.number(of.get(1)));
    }

    private static LoadReport report(String name, JsonNode values) throws ReflectiveOperationException {
        LoadReport made = new LoadReport(null, null, null, null);
        made.setName(name);
        made.setTimestamp(values.get("lastUpdate").asLong());
        made.setBundleStats(Made.allStats(values.get("lastStats")));
        SystemResourceUsage used = new SystemResourceUsage();
        used.setCpu(usage(values.get("cpu")));
        used.setMemory(usage(values.get("memory")));
        used.setDirectMemory(usage(values.get("directMemory")));
        used.setBandwidthIn(usage(values.get("bandwidthIn")));
        used.setBandwidthOut(usage(values.get("bandwidthOut")));
        made.setSystemResourceUsage(used);
        return made;
    }

    private static ResourceUnit unit(String broker) {
        return new SimpleResourceUnit(SCHEME + broker, new PulsarResourceDescription());
    }

    private static String name(ResourceUnit broker) {
        return broker.getResourceId().substring(SCHEME.length());
    }

    /** The brokers that report are those that hold a lock. */
    private static LockManager<?> locks(Map<ResourceUnit, LoadReport> current) {
        return (LockManager<?>) Proxy.newProxyInstance(
                Simple.class.getClassLoader(), new Class<?>[] {LockManager.class}, (proxy, method, arguments) -> {
                    List<String> names = new ArrayList<>();
                    current.keySet().forEach(each -> names.add(name(each)));
                    return CompletableFuture.completedFuture(names);
                });
    }

    @SuppressWarnings("unchecked")
    static void answer(JsonNode asked, ObjectNode answer) throws Exception {
        Broker broker = broker(asked);
        SimpleLoadManagerImpl manager = new SimpleLoadManagerImpl();
        Made.put(manager, "pulsar", broker);
        Made.put(manager, "policies", Made.bare(NoPolicies.class));
        Map<ResourceUnit, LoadReport> current = (Map<ResourceUnit, LoadReport>) Made.get(manager, "currentLoadReports");
        Made.put(manager, "loadReports", locks(current));
        ArrayNode rounds = answer.putArray("rounds");
        for (JsonNode round : asked.get("rounds")) {
            LoadingCache<String, Long> recent = CacheBuilder.newBuilder().build(CacheLoader.from(() -> 0L));
            Made.put(manager, "unloadedHotNamespaceCache", recent);
            broker.namespaces = Splitting.namespaces(round.get("counts"));
            for (String name : Made.names(round.get("recent"))) {
                recent.put(name, 0L);
            }
            current.clear();
            ObjectNode told = rounds.addObject();
            ObjectNode order = told.putObject("order");
            for (var each = round.get("brokers").fields(); each.hasNext();) {
                var entry = each.next();
                LoadReport made = report(entry.getKey(), entry.getValue());
                current.put(unit(entry.getKey()), made);
                Shedding.names(order.putArray(entry.getKey()), made.getBundleStats().keySet());
            }
            Made.call(manager, "updateRealtimeResourceQuota");
            Made.call(manager, "doLoadRanking");
            if (round.get("starts").asBoolean()) {
                Made.put(manager, "lastResourceQuotaUpdateTimestamp", round.get("now").asLong());
            }
            step(manager, broker, round, told);
        }
    }

    @SuppressWarnings("unchecked")
    private static void step(SimpleLoadManagerImpl manager, Broker broker, JsonNode round, ObjectNode told) throws Exception {
        broker.unloaded = new HashSet<>();
        manager.doLoadShedding();
        Shedding.names(told.putArray("bundles"), broker.unloaded);
        ArrayNode chosen = told.putArray("chosen");
        for (String name : Made.names(round.get("asked"))) {
            int end = name.lastIndexOf('/');
            NamespaceBundle bundle = Splitting.factory().getBundle(name.substring(0, end), name.substring(end + 1));
            var found = manager.getLeastLoaded(bundle);
            chosen.add(found.isPresent() ? name(found.get()) : null);
        }
        broker.split = new HashSet<>();
        for (var each = round.get("brokers").fields(); each.hasNext();) {
            var entry = each.next();
            Made.put(manager, "lastLoadReport", report(entry.getKey(), entry.getValue()));
            manager.doNamespaceBundleSplit();
        }
        ArrayNode ranks = told.putArray("brokers");
        var ranked = (AtomicReference<Map<Long, Set<ResourceUnit>>>) Made.get(manager, "sortedRankings");
        ranked.get().forEach((rank, units) -> new TreeSet<>(units).forEach(each -> ranks.add(rank + " " + name(each))));
        Shedding.names(told.putArray("split"), broker.split);
    }
}
