package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Some bundles at a time: a ZooKeeper server, which stays, and brokers that own them, which are new for each run.
 *
 * <p>A request is {@code {"do": ..., "of": broker, "bundle": ...}}, with what a subclass says for {@code begin} and {@code what}
 * for the steps of requests. The answer has {@code seen}, or {@code refused} if the code cannot take the step.
 */
abstract class BundlesBench<T extends Owning> implements Lines.Target {
    final Server server;
    final Map<String, T> brokers = new LinkedHashMap<>();
    private int runs;

    BundlesBench(Server server) {
        this.server = server;
    }

    @Override
    public final void answer(JsonNode request, ObjectNode answer) throws Exception {
        try {
            String step = request.path("do").asText();
            if (step.equals("begin")) {
                end();
                begin(request, "conform/run-" + ++runs);
            } else {
                take(step, request);
            }
            settle();
            tell(answer.putObject("seen"));
        } catch (Refused why) {
            settle();
            answer.put("refused", why.getMessage());
        }
    }

    /** Starts the brokers of a run, in a namespace of its own. */
    abstract void begin(JsonNode request, String namespace) throws Exception;

    /** Creates the parent of all owner nodes: without it a creation is no single operation. */
    final void withParents(String namespace) throws Exception {
        brokers.values().iterator().next().store.put("/namespace/" + namespace, new byte[0], Optional.of(-1L))
                .get(HeldStore.SECONDS, TimeUnit.SECONDS);
    }

    /** Takes a step that is neither of sessions nor of requests. */
    abstract void take(T broker, String step, String bundle, JsonNode request) throws Exception;

    private void take(String step, JsonNode request) throws Exception {
        T broker = brokers.get(request.path("of").asText());
        String bundle = request.path("bundle").asText();
        boolean newest = request.path("newest").asBoolean();
        if (!broker.takes(step, request) && !broker.lets(step, bundle, request.path("what").asText(), newest)) {
            if (step.equals("own")) {
                broker.own(bundle);
            } else {
                take(broker, step, bundle, request);
            }
        }
    }

    /** Ends the run: nothing of it is left on the server. */
    void end() throws Exception {
        for (T broker : brokers.values()) {
            if (broker.lives()) {
                broker.die();
            }
            broker.expire();
            broker.expireFormer();
        }
        brokers.clear();
    }

    /** Waits until every broker waits. */
    final void settle() throws Exception {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (T broker : brokers.values()) {
                moved |= broker.lives() && broker.settle();
            }
        }
    }

    void tell(ObjectNode seen) throws Exception {
        ObjectNode nodes = seen.putObject("nodes");
        T any = brokers.values().iterator().next();
        for (String bundle : any.bundles()) {
            ObjectNode told = nodes.putObject(bundle);
            Server.Node node = server.node(any.path(bundle));
            if (node != null) {
                JsonNode value = Lines.JSON.readTree(node.value());
                String address = value.path("nativeUrl").asText();
                told.put("holder", brokers.values().stream().filter(b -> b.isAt(address)).findAny().orElseThrow().name);
                told.put("disabled", value.path("disabled").asBoolean());
                told.put("version", node.version());
                told.put("former", brokers.values().stream().noneMatch(b -> b.session == node.owner()));
            }
        }
        ObjectNode each = seen.putObject("brokers");
        for (T broker : brokers.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }

    @Override
    public void close() throws Exception {
        end();
        server.close();
    }
}
