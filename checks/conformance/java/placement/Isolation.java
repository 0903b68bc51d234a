package org.apache.bookkeeper.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.bookkeeper.conf.ClientConfiguration;

/**
 * Pulsar's IsolatedBookieEnsemblePlacementPolicy, by its name: the harness is compiled with BookKeeper alone also. Its metadata
 * store has nothing but the groups of bookies.
 */
final class Isolation {
    private static final String OF_PULSAR = "org.apache.pulsar.";

    private Isolation() {
    }

    /** A policy for the groups of a case, which are made of racks. A rack has the bookies that {@code named} says. */
    static EnsemblePlacementPolicy policy(JsonNode asked, ClientConfiguration conf, IntFunction<List<String>> named)
            throws ReflectiveOperationException {
        Map<String, Map<String, Object>> groups = racks();
        asked.get("groups").fields().forEachRemaining(group -> {
            Map<String, Object> bookies = new HashMap<>();
            group.getValue().forEach(rack -> named.apply(rack.asInt()).forEach(bookie -> bookies.put(bookie, null)));
            groups.put(group.getKey(), bookies);
        });
        Object cache = proxy("metadata.api.MetadataCache", "get", CompletableFuture.completedFuture(Optional.of(groups)));
        conf.setProperty("METADATA_STORE_INSTANCE", proxy("metadata.api.MetadataStore", "getMetadataCache", cache));
        conf.setProperty("isolationBookieGroups", joined(asked.get("primary")));
        conf.setProperty("secondaryIsolationBookieGroups", joined(asked.get("secondary")));
        Class<?> isolated = Class.forName(OF_PULSAR + "bookie.rackawareness.IsolatedBookieEnsemblePlacementPolicy");
        return (EnsemblePlacementPolicy) isolated.getDeclaredConstructor().newInstance();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Map<String, Object>> racks() throws ReflectiveOperationException {
        Class<?> racks = Class.forName(OF_PULSAR + "common.policies.data.BookiesRackConfiguration");
        return (Map<String, Map<String, Object>>) racks.getDeclaredConstructor().newInstance();
    }

    /** An instance of an interface of Pulsar that answers one method. */
    private static Object proxy(String name, String method, Object answer) throws ReflectiveOperationException {
        InvocationHandler handler = (self, called, arguments) -> {
            if (called.getName().equals(method)) {
                return answer;
            }
            throw new UnsupportedOperationException(called.toString());
        };
        return Proxy.newProxyInstance(Isolation.class.getClassLoader(), new Class<?>[] {Class.forName(OF_PULSAR + name)}, handler);
    }

    private static String joined(JsonNode names) {
        List<String> each = new ArrayList<>();
        names.forEach(name -> each.add(name.asText()));
        return String.join(",", each);
    }
}
