package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateMetadataStoreTableViewImpl;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.impl.ZKMetadataStore;

/**
 * Some service units at a time: a ZooKeeper server, which stays, and brokers with a channel, which are new for each run.
 *
 * <p>A request is {@code {"do": ..., "of": broker, "unit": ...}} and what the step needs, with {@code brokers} and {@code
 * units}, and whether one is to be {@code split}, for {@code begin}, and in each who is {@code registered} and who is the {@code leader} before the step, and who leads
 * {@code then}. The answer has {@code seen}, or {@code refused} if the code cannot take the step.
 */
public final class ChannelBench implements Lines.Target {
    private static final String ROOT = ServiceUnitStateMetadataStoreTableViewImpl.PATH_PREFIX;

    private final Server server = Wire.server();
    private final ZKMetadataStore admin;
    private final PulsarResources resources;
    private final Map<String, UnitBroker> brokers = new LinkedHashMap<>();
    private final Map<String, String> units = new LinkedHashMap<>();
    private String namespace = "";
    private int runs;

    private ChannelBench() throws Exception {
        var usual = MetadataStoreConfig.builder().sessionTimeoutMillis(Server.SESSION_MILLIS).batchingEnabled(false).build();
        admin = new ZKMetadataStore(Wire.to(server).address(), usual, false);
        resources = new PulsarResources(admin, admin);
        Bare.set(PulsarResources.class, resources, "topicResources", Bare.of(Surroundings.Written.class));
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ChannelBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        String refused = take(request, request.path("do").asText());
        Client.settle(brokers.values());
        for (UnitBroker each : brokers.values()) {
            each.lead(request.path("then").textValue());
        }
        if (refused != null) {
            answer.put("refused", refused);
        } else {
            tell(answer.putObject("seen"));
        }
    }

    /** Takes a step; returns why it cannot be taken, null if it was. */
    private String take(JsonNode request, String step) throws Exception {
        Set<String> registered = new HashSet<>();
        request.path("registered").forEach(name -> registered.add(name.asText()));
        if (step.equals("begin")) {
            begin(request, registered);
            return null;
        }
        for (UnitBroker each : brokers.values()) {
            each.register(registered);
            each.lead(request.path("leader").textValue());
        }
        if (step.equals("look")) {
            return null;
        }
        UnitBroker broker = brokers.get(request.path("of").asText());
        return broker.takes(step, request) ? null : broker.take(step, request.path("unit").asText(), request);
    }

    private void begin(JsonNode request, Set<String> registered) throws Exception {
        end();
        namespace = "conform/run-" + ++runs;
        JsonNode names = request.get("units");
        for (int i = 0; i < names.size(); i++) {
            String range = Layout.cut(i, names.size()) + "_" + Layout.cut(i + 1, names.size());
            if (request.path("split").asBoolean()) {
                range = i == 0 ? Layout.WHOLE : Layout.HALF;
            }
            units.put(names.get(i).asText(), namespace + "/" + range);
        }
        // without its parent a creation is no single operation
        admin.put(ROOT + "/" + namespace, new byte[0], Optional.of(-1L)).get(HeldStore.SECONDS, TimeUnit.SECONDS);
        for (JsonNode name : request.get("brokers")) {
            var concern = new UnitRequests(ROOT + "/" + namespace, request.path("split").asBoolean() ? Layout.OTHER_HALF : "");
            var broker = new UnitBroker(name.asText(), server, concern, units, resources);
            brokers.put(broker.name, broker);
            broker.multiPhase = request.path("multi_phase").asBoolean();
            broker.register(registered);
            broker.start();
        }
    }

    /** Ends the run: nothing of it is left on the server. */
    private void end() throws Exception {
        for (UnitBroker broker : brokers.values()) {
            if (broker.lives()) {
                broker.die();
            }
            broker.expire();
            broker.expireFormer();
        }
        if (!brokers.isEmpty()) {
            admin.deleteRecursive(ROOT + "/" + namespace).get(HeldStore.SECONDS, TimeUnit.SECONDS);
        }
        brokers.clear();
        units.clear();
    }

    private void tell(ObjectNode seen) throws Exception {
        ObjectNode nodes = seen.putObject("nodes");
        for (String unit : units.keySet()) {
            Server.Node node = server.node(ROOT + "/" + units.get(unit));
            nodes.set(unit, node == null ? null : Lines.JSON.readTree(node.value()));
        }
        ObjectNode each = seen.putObject("brokers");
        for (UnitBroker broker : brokers.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }

    @Override
    public void close() throws Exception {
        end();
        server.close();
    }
}
