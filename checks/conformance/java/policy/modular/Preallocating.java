package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pulsar.broker.loadbalance.LeaderElectionService;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.metadata.api.coordination.LeaderElection;
import org.apache.pulsar.metadata.api.coordination.LeaderElectionState;
import org.apache.pulsar.policies.data.loadbalancer.LocalBrokerData;
import org.apache.pulsar.policies.data.loadbalancer.NamespaceBundleStats;

/**
 * What ModularLoadManagerImpl remembers of bundles that it placed. Reports are handed to it as updateAllBrokerData would read them
 * from the store; averages that it would look for in the store are there already, as those of a bundle never seen.
 */
final class Preallocating {
    private Preallocating() {
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static void answer(JsonNode asked, ObjectNode answer) throws Exception {
        ModularLoadManagerImpl manager = Made.bare(ModularLoadManagerImpl.class);
        LoadData load = new LoadData();
        Map<String, String> again = new ConcurrentHashMap<>();
        NamespaceBundleStats unknown = Made.stats(asked.get("unknown"));
        Splitting.Namespaces namespaces = Made.bare(Splitting.Namespaces.class);
        namespaces.owned = new HashSet<>();
        NamespaceBundleFactory factory = Splitting.factory();
        for (String name : Made.names(asked.get("owned"))) {
            int slash = name.lastIndexOf('/');
            namespaces.owned.add(factory.getBundle(name.substring(0, slash), name.substring(slash + 1)));
        }
        Made.put(manager, "loadData", load);
        Made.put(manager, "preallocatedBundleToBroker", again);
        Made.put(manager, "defaultStats", unknown);
        Splitting.Broker follows = (Splitting.Broker) Splitting.pulsar(asked.get("conf"), namespaces);
        follows.election = follower();
        Made.put(manager, "pulsar", follows);
        Class<?> ranges = Made.field(ModularLoadManagerImpl.class, "brokerToNamespaceToBundleRange").getType();
        Made.put(manager, "brokerToNamespaceToBundleRange", Made.create(ranges));
        Map<String, Object> brokers = (Map) load.getBrokerData();
        Map<String, Object> bundles = (Map) load.getBundleData();
        ArrayNode rounds = answer.putArray("rounds");
        for (JsonNode round : asked.get("rounds")) {
            for (JsonNode pair : round.get("placed")) {
                if (brokers.containsKey(pair.get(1).asText())) {
                    place(manager, again, brokers, bundles, unknown, pair.get(0).asText(), pair.get(1).asText());
                }
            }
            List<String> alive = new ArrayList<>();
            round.get("brokers").fieldNames().forEachRemaining(alive::add);
            Made.call(manager, "reapDeadBrokerPreallocations", alive);
            brokers.keySet().removeIf(broker -> !alive.contains(broker));
            for (String broker : alive) {
                LocalBrokerData report = Made.report(round.get("brokers").get(broker));
                if (brokers.containsKey(broker)) {
                    Made.call(brokers.get(broker), "setLocalData", report);
                } else {
                    brokers.put(broker, Made.create(Made.BROKER_DATA, report));
                }
                for (String bundle : report.getLastStats().keySet()) {
                    if (!bundles.containsKey(bundle)) {
                        bundles.put(bundle, Made.create(Made.BUNDLE_DATA, 10, 1000, unknown));
                    }
                }
            }
            Made.call(manager, "updateBundleData");
            ObjectNode told = rounds.addObject();
            Shedding.names(told.putArray("brokers"), brokers.keySet());
            again.forEach(told.putObject("asked")::put);
            ObjectNode counted = told.putObject("counted");
            for (Map.Entry<String, Object> each : brokers.entrySet()) {
                Map<String, ?> own = (Map) Made.get(each.getValue(), "preallocatedBundleData");
                Shedding.names(counted.putArray(each.getKey()), own.keySet());
            }
        }
    }

    /** A broker that does not lead; before 4.0.8 nobody asks first whether there is an election. */
    private static LeaderElectionService follower() throws Exception {
        LeaderElectionService made = Made.bare(LeaderElectionService.class);
        Made.put(made, "leaderElection", Proxy.newProxyInstance(Preallocating.class.getClassLoader(),
                new Class<?>[] {LeaderElection.class}, (proxy, method, arguments) -> LeaderElectionState.Following));
        return made;
    }

    /** In 2.10 these statements are in the midst of selectBrokerForAssignment. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void place(ModularLoadManagerImpl manager, Map<String, String> again, Map<String, Object> brokers,
            Map<String, Object> bundles, NamespaceBundleStats unknown, String bundle, String broker) throws Exception {
        if (!bundles.containsKey(bundle)) {
            bundles.put(bundle, Made.create(Made.BUNDLE_DATA, 10, 1000, unknown));
        }
        try {
            Made.call(manager, "preallocateBundle", bundle, broker);
        } catch (NoSuchMethodException e) {
            ((Map) Made.get(brokers.get(broker), "preallocatedBundleData")).put(bundle, bundles.get(bundle));
            again.put(bundle, broker);
        }
    }
}
