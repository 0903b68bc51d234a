package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Clients of one store: a ZooKeeper server, which stays, and clients with nodes to fight for, which are new for each run.
 *
 * <p>A request is {@code {"do": ..., "of": client, "path": ..., "what": ...}}, with {@code clients} and {@code paths} for
 * {@code begin}. The answer has {@code seen}, or {@code refused} if the code cannot take the step.
 */
public final class StoreBench implements Lines.Target {
    private final Server server = new Server();
    private final Map<String, StoreClient> clients = new LinkedHashMap<>();
    private final List<String> places = new ArrayList<>();
    private int runs;
    private String prefix;
    /** The version that the lasting node had as the run began. */
    private long base;

    private StoreBench() throws Exception {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(StoreBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        try {
            take(request, request.path("do").asText());
            settle();
            tell(answer.putObject("seen"));
        } catch (Refused why) {
            settle();
            answer.put("refused", why.getMessage());
        }
    }

    private void take(JsonNode request, String step) throws Exception {
        if (step.equals("begin")) {
            begin(request);
            return;
        }
        StoreClient client = clients.get(request.path("of").asText());
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

    private void begin(JsonNode request) throws Exception {
        end();
        prefix = "/store-" + ++runs + "-";
        places.clear();
        request.get("paths").forEach(place -> places.add(place.asText()));
        Server.Node lasting = server.node(StoreRequests.LASTING);
        base = lasting == null ? 0 : lasting.version();
        for (JsonNode name : request.get("clients")) {
            StoreClient client = new StoreClient(name.asText(), server, prefix, places, base);
            clients.put(client.name, client);
            client.start();
        }
        if (lasting == null) {
            clients.values().iterator().next().makeLasting();
        }
    }

    /** Ends the run: nothing of it is left on the server but the version of the lasting node. */
    private void end() throws Exception {
        for (StoreClient client : clients.values()) {
            if (client.lives()) {
                client.die();
            }
            client.expire();
            client.expireFormer();
        }
        clients.clear();
    }

    /** Waits until every client waits. */
    private void settle() throws Exception {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (StoreClient client : clients.values()) {
                moved |= client.lives() && client.settle();
            }
        }
    }

    private void tell(ObjectNode seen) throws Exception {
        ObjectNode nodes = seen.putObject("nodes");
        for (String place : places) {
            ObjectNode told = nodes.putObject(place);
            Server.Node node = server.node(prefix + place);
            if (node != null) {
                StoreClient holder = clients.values().stream().filter(client -> client.had(node.owner())).findAny().orElseThrow();
                told.put("holder", holder.name);
                told.put("former", holder.session != node.owner());
                told.put("version", node.version());
            }
        }
        seen.put("lasting", server.node(StoreRequests.LASTING).version() - base);
        ObjectNode each = seen.putObject("clients");
        for (StoreClient client : clients.values()) {
            client.tell(each.putObject(client.name));
        }
    }

    @Override
    public void close() throws Exception {
        end();
        server.close();
    }
}
