package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.common.configuration.FieldContext;
import org.apache.pulsar.policies.data.loadbalancer.LocalBrokerData;

/** Averages of bundles, whether a broker writes its report, and which of its settings may change meanwhile. */
final class Reporting {
    private Reporting() {
    }

    static void average(JsonNode asked, ObjectNode answer) throws Exception {
        Object bundle = Made.bundle(asked.get("bundle"));
        for (JsonNode sample : asked.get("samples")) {
            Made.call(bundle, "update", Made.stats(sample));
        }
        for (String term : new String[] {"shortTermData", "longTermData"}) {
            Object data = Made.get(bundle, term);
            ArrayNode values = answer.putArray(term);
            for (String name : new String[] {"msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut"}) {
                values.add((Double) Made.get(data, name));
            }
            values.add((Integer) Made.get(data, "numSamples"));
        }
        answer.put("topics", (Integer) Made.get(bundle, "topics"));
    }

    /** Which settings are not dynamic. */
    static void fixed(JsonNode asked, ObjectNode answer) throws Exception {
        ArrayNode names = answer.putArray("names");
        for (JsonNode name : asked.get("names")) {
            FieldContext told = Made.field(ServiceConfiguration.class, name.asText()).getAnnotation(FieldContext.class);
            if (told == null || !told.dynamic()) {
                names.add(name.asText());
            }
        }
    }

    /** What settings are unless they are configured. */
    static void defaults(JsonNode asked, ObjectNode answer) throws Exception {
        ServiceConfiguration usual = new ServiceConfiguration();
        ObjectNode values = answer.putObject("values");
        for (JsonNode name : asked.get("names")) {
            values.put(name.asText(), String.valueOf(Made.get(usual, name.asText())));
        }
    }

    static void report(JsonNode asked, ObjectNode answer) throws Exception {
        ModularLoadManagerImpl manager = Made.bare(ModularLoadManagerImpl.class);
        Made.put(manager, "conf", Made.configuration(asked.get("conf")));
        LocalBrokerData last = Made.report(asked.get("last"));
        LocalBrokerData now = Made.report(asked.get("now"));
        now.setLastUpdate(System.currentTimeMillis() - asked.get("age").asLong());
        Made.put(manager, "lastData", last);
        Made.put(manager, "localData", now);
        answer.put("reports", (Boolean) Made.call(manager, "needBrokerDataUpdate"));
    }
}
