package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.ArrayList;
import java.util.List;

/**
 * Clients of one store, with nodes to fight for. A request has a {@code path} and {@code what}, {@code begin} has {@code clients}
 * and {@code paths}.
 */
public final class StoreBench extends ClientsBench<StoreClient> {
    private final List<String> places = new ArrayList<>();
    private String prefix;
    /** The version that the lasting node had as the run began. */
    private long base;

    private StoreBench() throws Exception {
        super(Wire.server());
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(StoreBench::new);
    }

    @Override
    protected void take(StoreClient client, String step, JsonNode request) throws Exception {
        String place = request.path("path").asText();
        String what = request.path("what").asText();
        if (client.takes(step, request)) {
            return;
        }
        if (step.equals("write")) {
            client.ask(place, what);
            client.lets("let", place, what);
        } else if (!client.lets(step, place, what)) {
            throw new IllegalArgumentException("no such step: " + step);
        }
    }

    @Override
    protected void begin(JsonNode request, int run) throws Exception {
        prefix = "/store-" + run + "-";
        places.clear();
        request.get("paths").forEach(place -> places.add(place.asText()));
        Server.Node lasting = server.node(StoreRequests.LASTING);
        base = lasting == null ? 0 : lasting.version();
        for (JsonNode name : request.get("clients")) {
            StoreClient client = new StoreClient(name.asText(), server, prefix, places, base);
            members.put(client.name, client);
            client.start();
        }
        if (lasting == null) {
            members.values().iterator().next().makeLasting();
        }
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        ObjectNode nodes = seen.putObject("nodes");
        for (String place : places) {
            ObjectNode told = nodes.putObject(place);
            Server.Node node = server.node(prefix + place);
            if (node != null) {
                StoreClient holder = members.values().stream().filter(client -> client.had(node.owner())).findAny().orElseThrow();
                told.put("holder", holder.name);
                told.put("former", holder.session != node.owner());
                told.put("version", node.version());
            }
        }
        seen.put("lasting", server.node(StoreRequests.LASTING).version() - base);
        ObjectNode each = seen.putObject("clients");
        for (StoreClient client : members.values()) {
            client.tell(each.putObject(client.name));
        }
    }
}
