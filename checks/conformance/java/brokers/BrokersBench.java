package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.policies.data.BundlesData;
import org.apache.pulsar.common.policies.data.LocalPolicies;
import org.apache.pulsar.common.policies.data.Policies;
import org.apache.pulsar.zookeeper.LocalBookkeeperEnsemble;

/**
 * A namespace, and brokers that own, unload and split its bundles. {@code begin} has the names of the {@code brokers}, the
 * {@code bundles} that there can be, each with its boundaries, and the {@code boundaries} of those that there are.
 */
public final class BrokersBench extends BundlesBench<Member> {
    private final NamespaceRequests requests = new NamespaceRequests();
    /** ZooKeeper and a bookie, for whole brokers; null if these are not whole. */
    private final LocalBookkeeperEnsemble ensemble;

    private BrokersBench(LocalBookkeeperEnsemble ensemble) throws Exception {
        super(ensemble == null ? Wire.server() : new Server(ensemble.getZkServer(), ensemble.getZookeeperPort()));
        this.ensemble = ensemble;
    }

    private static LocalBookkeeperEnsemble started() throws Exception {
        LocalBookkeeperEnsemble ensemble;
        try {
            ensemble = LocalBookkeeperEnsemble.class.getConstructor(int.class, int.class, Supplier.class)
                    .newInstance(1, 0, (Supplier<Integer>) () -> 0);
        } catch (NoSuchMethodException e) {
            // newer releases choose the ports of the bookies themselves
            ensemble = LocalBookkeeperEnsemble.class.getConstructor(int.class, int.class).newInstance(1, 0);
        }
        ensemble.start();
        return ensemble;
    }

    /** {@code whole} has whole brokers, which stay for all runs. */
    public static void main(String[] arguments) throws Exception {
        boolean whole = List.of(arguments).contains("whole");
        Lines.serve(() -> new BrokersBench(whole ? started() : null));
    }

    @Override
    void begin(JsonNode request, String namespace) throws Exception {
        Map<String, long[]> ends = new LinkedHashMap<>();
        request.get("bundles").fields().forEachRemaining(each ->
                ends.put(each.getKey(), new long[] {each.getValue().get(0).asLong(), each.getValue().get(1).asLong()}));
        requests.of(null);
        for (JsonNode name : request.get("brokers")) {
            if (!members.containsKey(name.asText())) {
                Member broker = new Member(name.asText(), server, requests, ensemble != null);
                members.put(broker.name, broker);
                broker.start();
            }
        }
        for (Member broker : members.values()) {
            broker.enter(namespace, ends);
        }
        withParents(namespace);
        create(request.get("boundaries"), NamespaceName.get(namespace));
        // whoever has not heard of the namespace yet would take its creation for a change
        settle();
        requests.of(namespace);
    }

    @Override
    protected void end() throws Exception {
        if (ensemble == null) {
            super.end();
        }
    }

    /** The namespace, with that layout. */
    private void create(JsonNode boundaries, NamespaceName namespace) throws Exception {
        List<String> hashes = new ArrayList<>();
        boundaries.forEach(each -> hashes.add(String.format("0x%08x", each.asLong())));
        BundlesData bundles = BundlesData.builder().boundaries(hashes).numBundles(hashes.size() - 1).build();
        Policies policies = new Policies();
        policies.bundles = bundles;
        PulsarResources resources = members.values().iterator().next().pulsar().getPulsarResources();
        resources.getNamespaceResources().createPolicies(namespace, policies);
        resources.getLocalPolicies().createLocalPoliciesAsync(namespace, new LocalPolicies(bundles, null, null)).join();
    }

    @Override
    void take(Member broker, String step, String bundle, JsonNode request) throws Exception {
        switch (step) {
            case "unload":
                broker.unload(bundle);
                break;
            case "open":
                broker.open(bundle);
                break;
            case "close":
                broker.close(bundle, request.path("fails").asBoolean());
                break;
            case "time-out":
                broker.timeOut(bundle);
                break;
            case "may-split":
                broker.mayBeginSplit(bundle);
                break;
            case "prepare":
                broker.prepare(bundle, request.path("first").asBoolean(), request.path("boundary").asLong(-1),
                        request.path("unload").asBoolean());
                break;
            case "give-up":
                broker.prepare(bundle, request.path("first").asBoolean(), -1, false);
                settle();
                broker.goOn();
                break;
            case "fail-to-load":
                broker.failToLoad(bundle);
                break;
            case "write":
                broker.write();
                break;
            case "write-in-vain":
                broker.write();
                settle();
                broker.goOn();
                break;
            case "write-unheard":
                broker.writeUnheard();
                break;
            case "fail-to-write":
                broker.failToWrite(request.path("policies").asBoolean());
                settle();
                broker.goOn();
                break;
            case "write-policies":
                broker.writePolicies();
                break;
            case "write-policies-and-hand-over":
                broker.writePolicies();
                broker.goOn();
                break;
            case "hand-over":
                broker.goOn();
                break;
            case "awake":
                broker.awake();
                break;
            case "hear-of-layout":
                broker.hearOfLayout();
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        super.tell(seen);
        Server.Node layout = server.node(requests.layout());
        seen.set("layout", boundaries(layout.value()));
        seen.put("layout_version", layout.version());
        seen.set("policies", boundaries(server.node(requests.policies()).value()));
    }

    /** The boundaries that are written in a layout, or in policies, as numbers. */
    static JsonNode boundaries(String written) throws Exception {
        var hashes = Lines.JSON.createArrayNode();
        Lines.JSON.readTree(written).path("bundles").path("boundaries").forEach(each -> hashes.add(Long.decode(each.asText())));
        return hashes;
    }
}
