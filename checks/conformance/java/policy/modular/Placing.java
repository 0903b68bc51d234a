package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.policies.data.loadbalancer.NamespaceBundleStats;

/** Selections of one placement strategy. Where it draws at random, all that it draws from goes back. */
final class Placing {
    private Placing() {
    }

    /** What the strategy selects; since 5.0.1 it is asked by the bundle's name, too. */
    @SuppressWarnings("unchecked")
    static Optional<String> select(Object strategy, Set<String> candidates, String bundle, Object data, LoadData load,
            ServiceConfiguration conf) throws Exception {
        for (Method each : strategy.getClass().getMethods()) {
            if (each.getName().equals("selectBrokerForBundle")) {
                try {
                    return (Optional<String>) each.invoke(strategy, candidates, bundle, data, load, conf);
                } catch (InvocationTargetException e) {
                    throw (Exception) e.getCause();
                }
            }
        }
        return (Optional<String>) Made.call(strategy, "selectBroker", candidates, data, load, conf);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static void answer(JsonNode asked, ObjectNode answer) throws Exception {
        ServiceConfiguration conf = Made.configuration(asked.get("conf"));
        Object strategy = Made.strategy(asked.get("class").asText(), conf);
        Map<String, Object> kept = new HashMap<>();
        ArrayNode rounds = answer.putArray("rounds");
        for (JsonNode round : asked.get("rounds")) {
            LoadData load = Made.load(round);
            Map<String, Object> bundles = (Map) load.getBundleData();
            InTurn.keep(kept, bundles);
            NamespaceBundleStats unknown = Made.stats(round.get("unknown"));
            for (var each = load.getBrokerData().entrySet().iterator(); each.hasNext();) {
                Map.Entry<String, ?> entry = each.next();
                Object average = Made.create(Made.BROKER_AVERAGE);
                Set<String> owned = Made.allStats(round.get("brokers").get(entry.getKey()).get("lastStats")).keySet();
                Made.call(average, "reset", owned, bundles, unknown);
                Made.put(entry.getValue(), "timeAverageData", average);
                Map<String, Object> placed = (Map) Made.get(entry.getValue(), "preallocatedBundleData");
                JsonNode names = round.get("preallocated").get(entry.getKey());
                if (names != null) {
                    for (JsonNode name : names) {
                        placed.put(name.asText(), bundles.get(name.asText()));
                    }
                }
            }
            ObjectNode told = rounds.addObject();
            Object data = bundles.get(round.get("bundle").asText());
            Optional<String> chosen = Optional.empty();
            try {
                chosen = select(strategy, Made.names(round.get("candidates")), round.get("bundle").asText(), data, load, conf);
            } catch (RuntimeException e) {
                told.put("throws", e.getClass().getSimpleName());
            }
            told.put("chosen", chosen.orElse(null));
            if (strategy.getClass().getSimpleName().startsWith("Least")) {
                ArrayNode from = told.putArray("from");
                if (chosen.isPresent()) {
                    Shedding.names(from, (List<String>) Made.get(strategy, "bestBrokers"));
                }
            }
        }
    }
}
