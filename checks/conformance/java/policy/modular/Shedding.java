package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.Multimap;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.broker.loadbalance.LoadSheddingStrategy;

/** Rounds of one shedder. Java's maps have an order of their own, which goes back with the answer: among equals it decides. */
final class Shedding {
    private Shedding() {
    }

    static void answer(JsonNode asked, ObjectNode answer) throws Exception {
        ServiceConfiguration conf = Made.configuration(asked.get("conf"));
        LoadSheddingStrategy shedder = (LoadSheddingStrategy) Made.strategy(asked.get("class").asText(), conf);
        ArrayNode rounds = answer.putArray("rounds");
        for (JsonNode round : asked.get("rounds")) {
            LoadData load = Made.load(round);
            shed(shedder, round, load, conf, rounds.addObject());
        }
    }

    @SuppressWarnings("unchecked")
    static void shed(LoadSheddingStrategy shedder, JsonNode round, LoadData load, ServiceConfiguration conf, ObjectNode told)
            throws Exception {
        names(told.putArray("brokers"), load.getBrokerData().keySet());
        names(told.putArray("bundles"), load.getBundleDataForLoadShedding().keySet());
        tell(shedder, Made.names(round.get("active")));
        try {
            Multimap<String, String> unload = shedder.findBundlesForUnloading(load, conf);
            ObjectNode byBroker = told.putObject("unload");
            unload.asMap().forEach((broker, bundles) -> names(byBroker.putArray(broker), bundles));
        } catch (RuntimeException e) {
            told.put("throws", e.getClass().getSimpleName());
        }
        averages(told, shedder);
        if (shedder.getClass().getSimpleName().equals("AvgShedder")) {
            ((ArrayNode) told.get("brokers")).removeAll();
            names(told.withArray("brokers"), ((Map<String, Double>) Made.get(shedder, "brokerScoreMap")).keySet());
        }
    }

    /** 2.10 does not tell its shedders which brokers are alive. */
    static void tell(LoadSheddingStrategy shedder, Set<String> active) throws Exception {
        for (Method each : LoadSheddingStrategy.class.getMethods()) {
            if (each.getName().equals("onActiveBrokersChange")) {
                each.invoke(shedder, active);
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static void averages(ObjectNode told, Object shedder) throws Exception {
        if (shedder.getClass().getSimpleName().equals("ThresholdShedder")) {
            ObjectNode averages = told.putObject("averages");
            ((Map<String, Double>) Made.get(shedder, "brokerAvgResourceUsage")).forEach(averages::put);
        }
    }

    static void names(ArrayNode into, Iterable<String> names) {
        names.forEach(into::add);
    }
}
