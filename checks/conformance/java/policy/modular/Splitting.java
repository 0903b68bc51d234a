package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.hash.Hashing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LeaderElectionService;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.broker.loadbalance.impl.BundleSplitterTask;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceBundleSplitAlgorithm;
import org.apache.pulsar.common.naming.NamespaceBundles;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.policies.data.stats.TopicStatsImpl;

/** What the modular manager splits, where the algorithms cut, and in which bundle a topic is looked up. */
final class Splitting {
    private Splitting() {
    }

    /** Knows how many bundles a namespace has, which topics are in a bundle, and what its broker owns. */
    static class Namespaces extends NamespaceService {
        Map<String, Integer> counts;
        List<String> topics;
        Set<NamespaceBundle> owned;

        Namespaces() {
            super(null);
        }

        @Override
        public int getBundleCount(NamespaceName namespace) {
            return counts.getOrDefault(namespace.toString(), 0);
        }

        @Override
        public Set<NamespaceBundle> getOwnedServiceUnits() {
            return owned;
        }

        @Override
        public CompletableFuture<List<String>> getOwnedTopicListForNamespaceBundle(NamespaceBundle bundle) {
            return CompletableFuture.completedFuture(topics);
        }
    }

    static Namespaces namespaces(JsonNode counts) throws Exception {
        Namespaces made = Made.bare(Namespaces.class);
        made.counts = new HashMap<>();
        counts.fields().forEachRemaining(entry -> made.counts.put(entry.getKey(), entry.getValue().asInt()));
        return made;
    }

    /** A broker of which nothing is there but its settings and its namespaces. */
    static class Broker extends PulsarService {
        ServiceConfiguration settings;
        NamespaceService namespaces;
        LeaderElectionService election;

        Broker() {
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
        public LeaderElectionService getLeaderElectionService() {
            return election;
        }
    }

    static PulsarService pulsar(JsonNode settings, NamespaceService namespaces) throws Exception {
        Broker made = Made.bare(Broker.class);
        made.settings = Made.configuration(settings);
        made.namespaces = namespaces;
        return made;
    }

    static void planned(JsonNode asked, ObjectNode answer) throws Exception {
        LoadData load = Made.load(asked);
        Shedding.names(answer.putArray("brokers"), load.getBrokerData().keySet());
        PulsarService pulsar = pulsar(asked.get("conf"), namespaces(asked.get("counts")));
        Object found = new BundleSplitterTask().findBundlesToSplit(load, pulsar);
        Collection<?> names = found instanceof Map ? ((Map<?, ?>) found).keySet() : (Collection<?>) found;
        ArrayNode splits = answer.putArray("split");
        for (Object name : names) {
            String text = String.valueOf(name);
            String[] bounds = text.substring(text.lastIndexOf('/') + 1).split("_");
            if (Long.decode(bounds[1]) - Long.decode(bounds[0]) > 1) { // NamespaceBundleFactory.canSplitBundle
                splits.add(text);
            }
        }
    }

    static NamespaceBundleFactory factory() throws Exception {
        NamespaceBundleFactory made = Made.bare(NamespaceBundleFactory.class);
        Made.put(made, "hashFunc", Hashing.crc32());
        return made;
    }

    static void cut(JsonNode asked, ObjectNode answer) throws Exception {
        NamespaceBundleFactory factory = factory();
        NamespaceBundle bundle = factory.getBundle(asked.get("namespace").asText(), asked.get("range").asText());
        Namespaces namespaces = Made.bare(Namespaces.class);
        namespaces.topics = new ArrayList<>();
        Map<String, TopicStatsImpl> stats = new HashMap<>();
        for (JsonNode topic : asked.get("topics")) {
            String name = topic.get("name").asText();
            namespaces.topics.add(name);
            TopicStatsImpl each = new TopicStatsImpl();
            each.msgRateIn = Made.number(topic.get("msgRateIn"));
            each.msgThroughputIn = Made.number(topic.get("msgThroughputIn"));
            stats.put(name, each);
        }
        List<Long> positions = new ArrayList<>();
        asked.get("positions").forEach(position -> positions.add(position.asLong()));
        NamespaceBundleSplitAlgorithm algorithm = NamespaceBundleSplitAlgorithm.of(asked.get("algorithm").asText());
        Object future;
        try {
            Object option = asked.get("algorithm").asText().startsWith("flow")
                    ? Made.create(Class.forName("org.apache.pulsar.common.naming.FlowOrQpsEquallyDivideBundleSplitOption"),
                            namespaces, bundle, positions, stats, asked.get("rate").asInt(), asked.get("mebibytes").asInt(),
                            asked.get("threshold").asInt())
                    : Made.create(Class.forName("org.apache.pulsar.common.naming.BundleSplitOption"), namespaces, bundle,
                            positions);
            future = Made.call(algorithm, "getSplitBoundary", option);
        } catch (ClassNotFoundException e) {
            future = Made.call(algorithm, "getSplitBoundary", namespaces, bundle);
        }
        Object found = ((CompletableFuture<?>) future).get();
        if (found != null) {
            ArrayNode boundaries = answer.putArray("boundaries");
            List<?> all = found instanceof List ? (List<?>) found : List.of(found); // 2.10 has one boundary
            all.forEach(boundary -> boundaries.add((Long) boundary));
        }
    }

    static void hash(JsonNode asked, ObjectNode answer) throws Exception {
        NamespaceBundleFactory factory = factory();
        long[] boundaries = new long[asked.get("boundaries").size()];
        for (int i = 0; i < boundaries.length; i++) {
            boundaries[i] = asked.get("boundaries").get(i).asLong();
        }
        NamespaceBundles bundles = (NamespaceBundles) Made.create(
                NamespaceBundles.class, NamespaceName.get("t/n"), factory, Optional.empty(), boundaries);
        long hash = asked.has("topic") ? factory.getLongHashCode(asked.get("topic").asText()) : asked.get("hash").asLong();
        answer.put("hash", hash);
        answer.put("bundle", ((NamespaceBundle) Made.call(bundles, "getBundle", hash)).getBundleRange());
    }
}
