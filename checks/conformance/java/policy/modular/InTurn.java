package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.broker.loadbalance.LoadSheddingStrategy;

/**
 * One object that sheds and places in turn. The data of a bundle are one object for as long as rounds speak of it, and change in
 * place; those of a bundle that nobody has seen are made when it is placed, as ModularLoadManagerImpl does.
 */
final class InTurn {
    private InTurn() {
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
            keep(kept, bundles);
            ObjectNode told = rounds.addObject();
            Shedding.shed((LoadSheddingStrategy) strategy, round, load, conf, told);
            ArrayNode chosen = told.putArray("chosen");
            for (JsonNode each : round.get("asked")) {
                String bundle = each.get(0).asText();
                if (!bundles.containsKey(bundle)) {
                    bundles.put(bundle, Made.create(Made.BUNDLE_DATA, 10, 1000, Made.stats(asked.get("unknown"))));
                    kept.put(bundle, bundles.get(bundle));
                }
                try {
                    Optional<String> broker = Placing.select(
                            strategy, Made.names(each.get(1)), bundle, bundles.get(bundle), load, conf);
                    chosen.add(broker.orElse(null));
                } catch (RuntimeException e) {
                    chosen.addNull();
                }
            }
        }
    }

    /** The data of bundles that were there in the round before are the same objects in this one. */
    static void keep(Map<String, Object> kept, Map<String, Object> bundles) throws Exception {
        kept.keySet().retainAll(bundles.keySet());
        for (Map.Entry<String, Object> entry : bundles.entrySet()) {
            entry.setValue(changed(kept.get(entry.getKey()), entry.getValue()));
        }
        kept.putAll(bundles);
    }

    /** The object that was there, with what the other one says; the other one, if there was none. */
    private static Object changed(Object before, Object now) throws Exception {
        if (before == null) {
            return now;
        }
        for (String name : new String[] {"shortTermData", "longTermData", "topics"}) {
            Made.put(before, name, Made.get(now, name));
        }
        return before;
    }
}
