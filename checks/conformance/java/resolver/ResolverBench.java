package fencepost.serviceunit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.ArrayList;
import java.util.List;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitState;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateData;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateDataConflictResolver;

/**
 * Asks the conflict resolver of service units of each pair of an old record and a new one whether the old one is kept.
 *
 * <p>A record is null, or an array of its state, its destination and source or null, its version and whether it is forced. The
 * answer has a character for each pair, those of the first old record first: 1 the old one is kept, 0 it is not, ! it throws.
 */
public final class ResolverBench implements Lines.Target {
    @Override
    public void answer(JsonNode request, ObjectNode answer) {
        ServiceUnitStateDataConflictResolver resolver = new ServiceUnitStateDataConflictResolver();
        resolver.setStorageType(ServiceUnitState.StorageType.valueOf(request.get("store").asText()));
        List<ServiceUnitStateData> news = records(request.get("new"));
        StringBuilder kept = new StringBuilder();
        for (ServiceUnitStateData old : records(request.get("old"))) {
            for (ServiceUnitStateData next : news) {
                kept.append(decided(resolver, old, next));
            }
        }
        answer.put("kept", kept.toString());
    }

    private static char decided(ServiceUnitStateDataConflictResolver resolver, ServiceUnitStateData old, ServiceUnitStateData next) {
        try {
            return resolver.shouldKeepLeft(old, next) ? '1' : '0';
        } catch (RuntimeException e) {
            return '!';
        }
    }

    private static List<ServiceUnitStateData> records(JsonNode written) {
        List<ServiceUnitStateData> records = new ArrayList<>();
        for (JsonNode each : written) {
            records.add(each.isNull() ? null : new ServiceUnitStateData(ServiceUnitState.valueOf(each.get(0).asText()),
                    each.get(1).textValue(), each.get(2).textValue(), each.get(4).asBoolean(), each.get(3).asLong()));
        }
        return records;
    }

    @Override
    public void close() {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ResolverBench::new);
    }
}
