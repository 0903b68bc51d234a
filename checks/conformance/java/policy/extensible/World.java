package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import fencepost.Lines;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadManager;
import org.apache.pulsar.broker.loadbalance.extensions.BrokerRegistry;
import org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl;
import org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerWrapper;
import org.apache.pulsar.broker.loadbalance.extensions.LoadManagerContext;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitState;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateChannel;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateData;
import org.apache.pulsar.broker.loadbalance.extensions.data.BrokerLoadData;
import org.apache.pulsar.broker.loadbalance.extensions.data.BrokerLookupData;
import org.apache.pulsar.broker.loadbalance.extensions.data.TopBundlesLoadData;
import org.apache.pulsar.broker.loadbalance.extensions.filter.AntiAffinityGroupPolicyFilter;
import org.apache.pulsar.broker.loadbalance.extensions.filter.BrokerFilter;
import org.apache.pulsar.broker.loadbalance.extensions.filter.BrokerIsolationPoliciesFilter;
import org.apache.pulsar.broker.loadbalance.extensions.filter.BrokerMaxTopicCountFilter;
import org.apache.pulsar.broker.loadbalance.extensions.filter.BrokerVersionFilter;
import org.apache.pulsar.broker.loadbalance.extensions.models.UnloadCounter;
import org.apache.pulsar.broker.loadbalance.extensions.policies.AntiAffinityGroupPolicyHelper;
import org.apache.pulsar.broker.loadbalance.extensions.policies.IsolationPoliciesHelper;
import org.apache.pulsar.broker.loadbalance.extensions.store.LoadDataStore;
import org.apache.pulsar.broker.loadbalance.impl.SimpleResourceAllocationPolicies;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.broker.resources.LocalPoliciesResources;
import org.apache.pulsar.broker.resources.NamespaceResources;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceBundleSplitAlgorithm;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.policies.data.LocalPolicies;
import org.apache.pulsar.common.policies.data.NamespaceIsolationDataImpl;
import org.apache.pulsar.common.policies.impl.NamespaceIsolationPolicies;
import org.apache.pulsar.common.util.ObjectMapperFactory;
import org.apache.pulsar.policies.data.loadbalancer.NamespaceBundleStats;

/** A cluster as the brokers of the extensible manager see it: stores, policies and owners that are what a case says. */
final class World {
    final long now = System.currentTimeMillis();
    final JsonNode said;
    final Own pulsar;
    final ServiceUnitStateChannel channel;
    final LoadManagerContext context;
    final IsolationPoliciesHelper isolation;
    final AntiAffinityGroupPolicyHelper antiAffinity;
    final Map<String, BrokerLookupData> lookups = new LinkedHashMap<>();
    final Map<String, ServiceUnitStateData> owners = new LinkedHashMap<>();
    private final Map<String, BrokerLoadData> loads = new LinkedHashMap<>();
    private final Map<String, TopBundlesLoadData> tops = new LinkedHashMap<>();
    String self = "";

    /** A broker's own service, of which little is there. */
    static class Own extends PulsarService {
        ServiceConfiguration settings;
        NamespaceService namespaces;
        PulsarResources resources;
        Statistics statistics;
        AtomicReference<LoadManager> manager;

        Own() {
            super(new ServiceConfiguration());
        }

        @Override
        public ServiceConfiguration getConfiguration() {
            return settings;
        }

        @Override
        public NamespaceService getNamespaceService() {
            return namespaces;
        }

        @Override
        public PulsarResources getPulsarResources() {
            return resources;
        }

        @Override
        public BrokerService getBrokerService() {
            return statistics;
        }

        @Override
        public AtomicReference<LoadManager> getLoadManager() {
            return manager;
        }

        void setOwnStats(Map<String, NamespaceBundleStats> stats) {
            statistics.own = stats;
        }
    }

    static class Statistics extends BrokerService {
        Map<String, NamespaceBundleStats> own;

        Statistics() throws Exception {
            super(null, null);
        }

        @Override
        public Map<String, NamespaceBundleStats> getBundleStats() {
            return own;
        }
    }

    static class Manager extends ExtensibleLoadManagerImpl {
        ServiceUnitStateChannel owners;

        @Override
        public ServiceUnitStateChannel getServiceUnitStateChannel() {
            return owners;
        }
    }

    static class Factory extends NamespaceBundleFactory {
        Factory() {
            super(null, null);
        }

        @Override
        public void invalidateBundleCache(NamespaceName namespace) {
        }
    }

    /** Knows how many bundles there are, and where the algorithm would cut. */
    static class Cutting extends Splitting.Namespaces {
        NamespaceBundleFactory factory;
        JsonNode boundaries;

        @Override
        public NamespaceBundleFactory getNamespaceBundleFactory() {
            return factory;
        }

        @Override
        public NamespaceBundleSplitAlgorithm getNamespaceBundleSplitAlgorithmByName(String name) {
            return null;
        }

        @Override
        public CompletableFuture<List<Long>> getSplitBoundary(
                NamespaceBundle bundle, List<Long> given, NamespaceBundleSplitAlgorithm algorithm) {
            JsonNode found = boundaries.get(bundle.toString());
            List<Long> list = null;
            if (found != null && !found.isNull()) {
                list = new ArrayList<>();
                for (JsonNode each : found) {
                    list.add(each.asLong());
                }
            }
            return CompletableFuture.completedFuture(list);
        }
    }

    static class Isolation extends NamespaceResources.IsolationPolicyResources {
        NamespaceIsolationPolicies policies;

        Isolation() {
            super(null, 0);
        }

        @Override
        public Optional<NamespaceIsolationPolicies> getIsolationDataPolicies(String cluster) {
            return Optional.of(policies);
        }

        @Override
        public CompletableFuture<Optional<NamespaceIsolationPolicies>> getIsolationDataPoliciesAsync(String cluster) {
            return CompletableFuture.completedFuture(Optional.of(policies));
        }
    }

    static class Groups extends LocalPoliciesResources {
        Map<String, LocalPolicies> policies;

        Groups() {
            super(null, 0);
        }

        @Override
        public Optional<LocalPolicies> getLocalPolicies(NamespaceName namespace) {
            return Optional.ofNullable(policies.get(namespace.toString()));
        }

        @Override
        public CompletableFuture<Optional<LocalPolicies>> getLocalPoliciesAsync(NamespaceName namespace) {
            return CompletableFuture.completedFuture(getLocalPolicies(namespace));
        }
    }

    static class Resources extends PulsarResources {
        NamespaceResources namespaces;
        Groups groups;

        Resources() {
            super(null, null);
        }

        @Override
        public NamespaceResources getNamespaceResources() {
            return namespaces;
        }

        @Override
        public LocalPoliciesResources getLocalPolicies() {
            return groups;
        }
    }

    World(JsonNode said) throws Exception {
        this.said = said;
        pulsar = Made.bare(Own.class);
        pulsar.settings = Made.configuration(said.get("conf"));
        pulsar.settings.setClusterName("c");
        pulsar.resources = resources(said);
        pulsar.statistics = Made.bare(Statistics.class);
        pulsar.namespaces = namespaces(said);
        JsonNode brokers = said.path("brokers");
        for (var each = brokers.fields(); each.hasNext();) {
            var entry = each.next();
            broker(entry.getKey(), entry.getValue());
        }
        for (JsonNode bundle : said.path("splitting")) {
            owners.put(bundle.asText(), record(
                    ServiceUnitStateData.class, Map.of("state", ServiceUnitState.Splitting, "sourceBroker", "another")));
        }
        channel = (ServiceUnitStateChannel) proxy(ServiceUnitStateChannel.class, (name, arguments) -> switch (name) {
            case "getOwnershipEntrySet" -> owners.entrySet();
            case "isOwner" -> owns(arguments.length > 1 ? (String) arguments[1] : self, (String) arguments[0]);
            default -> throw new NoSuchMethodException("ServiceUnitStateChannel." + name);
        });
        Manager manager = Made.bare(Manager.class);
        manager.owners = channel;
        Made.put(manager, "unloadCounter", new UnloadCounter());
        pulsar.manager = new AtomicReference<>(new ExtensibleLoadManagerWrapper(manager));
        isolation = new IsolationPoliciesHelper(new SimpleResourceAllocationPolicies(pulsar));
        antiAffinity = (AntiAffinityGroupPolicyHelper) Made.create(AntiAffinityGroupPolicyHelper.class, pulsar, channel);
        Map<String, String> domains = new HashMap<>();
        said.path("domains").fields().forEachRemaining(entry -> domains.put(entry.getKey(), entry.getValue().asText()));
        Made.put(antiAffinity, "brokerToFailureDomainMap", domains);
        context = context();
        for (var each = brokers.fields(); each.hasNext();) {
            var entry = each.next();
            if (!entry.getValue().isNull() && entry.getValue().has("lastStats")) {
                int most = pulsar.settings.getLoadBalancerMaxNumberOfBundlesInBundleLoadReport();
                tops.put(entry.getKey(), Extensible.named(this, Made.allStats(entry.getValue().get("lastStats")), most));
            }
        }
    }

    private static PulsarResources resources(JsonNode said) throws Exception {
        ObjectMapper mapper = ObjectMapperFactory.getMapper().getObjectMapper();
        Map<String, NamespaceIsolationDataImpl> isolation = new LinkedHashMap<>();
        for (var each = said.path("isolation").fields(); each.hasNext();) {
            var entry = each.next();
            isolation.put(entry.getKey(), mapper.treeToValue(entry.getValue(), NamespaceIsolationDataImpl.class));
        }
        Map<String, LocalPolicies> groups = new HashMap<>();
        for (var each = said.path("groups").fields(); each.hasNext();) {
            var entry = each.next();
            LocalPolicies policies = Made.bare(LocalPolicies.class);
            Made.put(policies, "namespaceAntiAffinityGroup", entry.getValue().asText());
            groups.put(entry.getKey(), policies);
        }
        Resources made = Made.bare(Resources.class);
        Isolation bound = Made.bare(Isolation.class);
        bound.policies = new NamespaceIsolationPolicies(isolation);
        made.namespaces = Made.bare(NamespaceResources.class);
        Made.put(made.namespaces, "isolationPolicies", bound);
        made.groups = Made.bare(Groups.class);
        made.groups.policies = groups;
        return made;
    }

    private static NamespaceService namespaces(JsonNode said) throws Exception {
        Cutting made = Made.bare(Cutting.class);
        made.counts = new HashMap<>();
        said.path("counts").fields().forEachRemaining(entry -> made.counts.put(entry.getKey(), entry.getValue().asInt()));
        made.boundaries = said.path("boundaries");
        made.factory = Made.bare(Factory.class);
        return made;
    }

    private void broker(String name, JsonNode values) throws Exception {
        Map<String, Object> lookup = new HashMap<>();
        lookup.put("persistentTopicsEnabled", values.path("persistentTopicsEnabled").asBoolean(true));
        lookup.put("nonPersistentTopicsEnabled", values.path("nonPersistentTopicsEnabled").asBoolean(true));
        lookup.put("brokerVersion", values.path("brokerVersionString").asText(""));
        lookups.put(name, record(BrokerLookupData.class, lookup));
        if (values.isNull()) {
            return;
        }
        BrokerLoadData load = new BrokerLoadData();
        Made.put(load, "weightedMaxEMA", Made.number(values.get("weightedMaxEMA")));
        Made.put(load, "msgThroughputEMA", Made.number(values.get("msgThroughputEMA")));
        Made.put(load, "msgThroughputIn", Made.number(values.get("msgThroughputIn")));
        Made.put(load, "msgThroughputOut", Made.number(values.get("msgThroughputOut")));
        Made.fill(load, Lines.JSON.createObjectNode().set("topics", values.get("numTopics")));
        Made.put(load, "updatedAt", now - values.get("age").asLong());
        loads.put(name, load);
        for (JsonNode bundle : values.get("bundles")) {
            owners.put(bundle.asText(), record(ServiceUnitStateData.class, Map.of("state", ServiceUnitState.Owned, "dstBroker", name)));
        }
    }

    private boolean owns(String broker, String bundle) {
        ServiceUnitStateData data = owners.get(bundle);
        return data != null && broker.equals(data.dstBroker());
    }

    List<BrokerFilter> filters() {
        return List.of(new BrokerMaxTopicCountFilter(), new BrokerVersionFilter(),
                new AntiAffinityGroupPolicyFilter(antiAffinity), new BrokerIsolationPoliciesFilter(isolation));
    }

    /** Times by name, that were so long ago. */
    Map<String, Long> times(JsonNode ages) {
        Map<String, Long> times = new HashMap<>();
        ages.fields().forEachRemaining(entry -> times.put(entry.getKey(), now - entry.getValue().asLong()));
        return times;
    }

    private LoadManagerContext context() {
        Object registry = proxy(BrokerRegistry.class, (name, arguments) -> switch (name) {
            case "getAvailableBrokerLookupDataAsync" -> CompletableFuture.completedFuture(lookups);
            case "getBrokerId" -> self;
            default -> throw new NoSuchMethodException("BrokerRegistry." + name);
        });
        Object loadStore = store(loads);
        Object topStore = store(tops);
        return (LoadManagerContext) proxy(LoadManagerContext.class, (name, arguments) -> switch (name) {
            case "brokerConfiguration" -> pulsar.settings;
            case "brokerRegistry" -> registry;
            case "brokerLoadDataStore" -> loadStore;
            case "topBundleLoadDataStore" -> topStore;
            default -> throw new NoSuchMethodException("LoadManagerContext." + name);
        });
    }

    private static Object store(Map<String, ?> values) {
        return proxy(LoadDataStore.class, (name, arguments) -> switch (name) {
            case "get" -> Optional.ofNullable(values.get((String) arguments[0]));
            case "entrySet" -> (Set<?>) values.entrySet();
            case "size" -> values.size();
            default -> throw new NoSuchMethodException("LoadDataStore." + name);
        });
    }

    private interface Answers {
        Object of(String method, Object[] arguments) throws Exception;
    }

    private static Object proxy(Class<?> type, Answers answers) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> switch (method.getName()) {
            case "toString" -> type.getSimpleName();
            case "hashCode" -> System.identityHashCode(self);
            case "equals" -> self == arguments[0];
            default -> answers.of(method.getName(), arguments);
        });
    }

    /** A record whose other components are nothing. */
    private static <T> T record(Class<T> type, Map<String, ?> values) throws Exception {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] arguments = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            Object none = types[i] == long.class ? (Object) 0L : types[i] == boolean.class ? (Object) false : null;
            arguments[i] = values.containsKey(components[i].getName()) ? values.get(components[i].getName()) : none;
        }
        var constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return constructor.newInstance(arguments);
    }
}
