package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pulsar.broker.loadbalance.extensions.data.BrokerLoadData;
import org.apache.pulsar.broker.loadbalance.extensions.data.TopBundlesLoadData;
import org.apache.pulsar.broker.loadbalance.extensions.filter.BrokerFilter;
import org.apache.pulsar.broker.loadbalance.extensions.models.SplitCounter;
import org.apache.pulsar.broker.loadbalance.extensions.models.SplitDecision;
import org.apache.pulsar.broker.loadbalance.extensions.models.TopKBundles;
import org.apache.pulsar.broker.loadbalance.extensions.models.UnloadCounter;
import org.apache.pulsar.broker.loadbalance.extensions.models.UnloadDecision;
import org.apache.pulsar.broker.loadbalance.extensions.reporter.BrokerLoadDataReporter;
import org.apache.pulsar.broker.loadbalance.extensions.scheduler.NamespaceUnloadStrategy;
import org.apache.pulsar.broker.loadbalance.extensions.scheduler.TransferShedder;
import org.apache.pulsar.broker.loadbalance.extensions.strategy.BrokerSelectionStrategy;
import org.apache.pulsar.broker.loadbalance.extensions.strategy.DefaultNamespaceBundleSplitStrategyImpl;
import org.apache.pulsar.broker.loadbalance.extensions.strategy.LeastResourceUsageWithWeight;
import org.apache.pulsar.policies.data.loadbalancer.NamespaceBundleStats;
import org.apache.pulsar.policies.data.loadbalancer.ResourceUsage;
import org.apache.pulsar.policies.data.loadbalancer.SystemResourceUsage;

/** The rules of the extensible load manager. */
public final class Extensible {
    private Extensible() {
    }

    /** Answers one case; PolicyBench finds it by its name, for 2.10 does not have any of this. */
    public static void answer(JsonNode asked, ObjectNode answer) throws Exception {
        switch (asked.get("rule").asText()) {
            case "top" -> top(asked, answer);
            case "transfer" -> transfer(asked, answer);
            case "select" -> select(asked, answer);
            case "split by owners" -> split(asked, answer);
            case "report of usage" -> report(asked, answer);
            case "load" -> load(asked, answer);
            default -> throw new ClassNotFoundException("no rule " + asked.get("rule"));
        }
    }

    private static void top(JsonNode asked, ObjectNode answer) throws Exception {
        World world = new World(asked);
        TopKBundles top = new TopKBundles(world.pulsar);
        top.update(Made.allStats(asked.get("stats")), asked.get("count").asInt());
        ArrayNode names = answer.putArray("names");
        top.getLoadData().getTopBundlesLoadData().forEach(each -> names.add(each.bundleName()));
    }

    /** Counts nothing but why nothing was done. */
    private static final class Skips extends UnloadCounter {
        String reason = "";

        @Override
        public void update(UnloadDecision.Label label, UnloadDecision.Reason why) {
            reason = label + " " + why;
        }
    }

    private static void transfer(JsonNode asked, ObjectNode answer) throws Exception {
        TransferShedder shedder = null;
        Skips skips = new Skips();
        ArrayNode rounds = answer.putArray("rounds");
        for (JsonNode round : asked.get("rounds")) {
            ((ObjectNode) round).set("conf", asked.get("conf"));
            World world = new World(round);
            if (shedder == null) {
                shedder = new TransferShedder(skips);
                Made.put(shedder, "decisionCache", new LinkedHashSet<>());
            }
            Made.put(shedder, "pulsar", world.pulsar);
            Made.put(shedder, "channel", world.channel);
            Made.put(shedder, "brokerFilterPipeline", world.filters());
            Made.put(shedder, "isolationPoliciesHelper", world.isolation);
            Made.put(shedder, "antiAffinityGroupPolicyHelper", world.antiAffinity);
            skips.reason = "";
            Set<UnloadDecision> decisions = shedder.findBundlesForUnloading(
                    world.context, world.times(round.get("recent")), world.times(round.get("recent brokers")));
            ObjectNode told = rounds.addObject();
            ArrayNode unloads = told.putArray("unloads");
            for (UnloadDecision decision : decisions) {
                unloads.addArray().add(decision.getUnload().serviceUnit()).add(decision.getUnload().sourceBroker())
                        .add(decision.getUnload().destBroker().orElse(null));
            }
            told.put("skip", skips.reason);
            told.put("hits", (Integer) Made.get(shedder, "unloadConditionHitCount"));
        }
    }

    /** What a strategy of anybody's unloads, and where to; it is told of a broker with the cluster as it is now. */
    public static void shed(Object strategy, JsonNode asked, ObjectNode answer) throws Exception {
        World world = new World(asked);
        NamespaceUnloadStrategy unloading = (NamespaceUnloadStrategy) strategy;
        unloading.initialize(world.pulsar);
        ObjectNode unload = answer.putObject("unload");
        ObjectNode meant = answer.putObject("destinations");
        for (UnloadDecision decision : unloading.findBundlesForUnloading(
                world.context, world.times(asked.get("recent")), world.times(asked.get("recent brokers")))) {
            String bundle = decision.getUnload().serviceUnit();
            unload.withArray(decision.getUnload().sourceBroker()).add(bundle);
            decision.getUnload().destBroker().ifPresent(target -> meant.put(bundle, target));
        }
    }

    /** What the filters leave, one after the other, and what the strategy draws from. */
    private static void select(JsonNode asked, ObjectNode answer) throws Exception {
        World world = new World(asked);
        var bundle = Splitting.factory().getBundle(asked.get("namespace").asText(), asked.get("range").asText());
        bundle.setHasNonPersistentTopic(asked.get("non persistent").asBoolean());
        var left = new LinkedHashMap<>(world.lookups);
        ObjectNode told = answer.putObject("left");
        for (BrokerFilter filter : world.filters()) {
            try {
                filter.filterAsync(left, bundle, world.context).get();
            } catch (java.util.concurrent.ExecutionException e) {
                answer.put("fails", filter.name());
            }
            Shedding.names(told.putArray(filter.name()), left.keySet());
        }
        BrokerSelectionStrategy strategy = new LeastResourceUsageWithWeight();
        Optional<String> chosen = strategy.select(new LinkedHashSet<>(left.keySet()), bundle, world.context);
        ArrayNode from = answer.putArray("from");
        if (chosen.isPresent()) {
            @SuppressWarnings("unchecked") // what it drew from it keeps for its thread
            ThreadLocal<List<String>> kept = (ThreadLocal<List<String>>) Made.get(strategy, "bestBrokers");
            Shedding.names(from, kept.get());
        }
    }

    private static void split(JsonNode asked, ObjectNode answer) throws Exception {
        Map<String, DefaultNamespaceBundleSplitStrategyImpl> strategies = new LinkedHashMap<>();
        ArrayNode rounds = answer.putArray("rounds");
        for (JsonNode round : asked.get("rounds")) {
            ((ObjectNode) round).set("conf", asked.get("conf"));
            World world = new World(round);
            ObjectNode told = rounds.addObject();
            strategies.keySet().retainAll(Lines.JSON.convertValue(round.get("brokers"), Map.class).keySet());
            for (var each = round.get("brokers").fields(); each.hasNext();) {
                var entry = each.next();
                world.pulsar.setOwnStats(Made.allStats(entry.getValue().get("lastStats")));
                world.self = entry.getKey();
                var strategy = strategies.computeIfAbsent(
                        entry.getKey(), name -> new DefaultNamespaceBundleSplitStrategyImpl(new SplitCounter()));
                Made.put(strategy, "decisionCache", new LinkedHashSet<>());
                ArrayNode splits = told.putArray(entry.getKey());
                for (SplitDecision decision : strategy.findBundlesToSplit(world.context, world.pulsar)) {
                    splits.add(decision.getSplit().serviceUnit());
                }
            }
        }
    }

    private static void report(JsonNode asked, ObjectNode answer) throws Exception {
        BrokerLoadDataReporter reporter = Made.bare(BrokerLoadDataReporter.class);
        Made.put(reporter, "conf", Made.configuration(asked.get("conf")));
        BrokerLoadData last = updated(new BrokerLoadData(), asked.get("last"), asked);
        BrokerLoadData now = updated(new BrokerLoadData(), asked.get("now"), asked);
        now.setReportedAt(System.currentTimeMillis() - asked.get("age").asLong());
        Made.put(reporter, "lastData", last);
        Made.put(reporter, "localData", now);
        answer.put("reports", (Boolean) Made.call(reporter, "needBrokerDataUpdate"));
    }

    private static void load(JsonNode asked, ObjectNode answer) throws Exception {
        BrokerLoadData data = new BrokerLoadData();
        for (JsonNode sample : asked.get("samples")) {
            updated(data, sample, asked);
        }
        answer.put("weightedMaxEMA", data.getWeightedMaxEMA());
        answer.put("msgThroughputEMA", data.getMsgThroughputEMA());
    }

    private static BrokerLoadData updated(BrokerLoadData data, JsonNode said, JsonNode asked) throws Exception {
        SystemResourceUsage usage = new SystemResourceUsage();
        for (String name : new String[] {"cpu", "memory", "directMemory", "bandwidthIn", "bandwidthOut"}) {
            JsonNode pair = said.get(name);
            Made.put(usage, name, new ResourceUsage(Made.number(pair.get(0)), Made.number(pair.get(1))));
        }
        boolean counts = Made.field(BrokerLoadData.class, "topics").getType() == int.class; // since 4.0.8 a long
        JsonNode bundles = said.get("numBundles");
        JsonNode topics = said.get("numTopics");
        Made.call(data, "update", usage, Made.number(said.get("msgThroughputIn")), Made.number(said.get("msgThroughputOut")),
                Made.number(said.get("msgRateIn")), Made.number(said.get("msgRateOut")),
                counts ? (Object) bundles.asInt() : (Object) bundles.asLong(),
                counts ? (Object) topics.asInt() : (Object) topics.asLong(), Made.configuration(asked.get("conf")));
        return data;
    }

    static TopBundlesLoadData named(World world, Map<String, NamespaceBundleStats> stats, int count) {
        TopKBundles top = new TopKBundles(world.pulsar);
        top.update(stats, count);
        return top.getLoadData();
    }
}
