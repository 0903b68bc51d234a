package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Some bundles at a time: a ZooKeeper server, which stays, and brokers that own them, which are new for each run.
 *
 * <p>A request is {@code {"do": ..., "of": broker, "bundle": ...}}, with {@code brokers} and {@code bundles} for {@code begin} and
 * {@code what} for the steps of requests. The answer has {@code seen}, or {@code refused} if the code cannot take the step.
 */
public final class OwnershipBench implements Lines.Target {
    private final Server server = new Server();
    private final Map<String, Owner> brokers = new LinkedHashMap<>();
    private final List<String> bundles = new ArrayList<>();
    private int runs;

    private OwnershipBench() throws Exception {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(OwnershipBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        String refused = take(request, request.path("do").asText());
        settle();
        if (refused != null) {
            answer.put("refused", refused);
        } else {
            tell(answer.putObject("seen"));
        }
    }

    /** Takes a step; returns why it cannot be taken, null if it was. */
    private String take(JsonNode request, String step) throws Exception {
        if (step.equals("begin")) {
            begin(request);
            return null;
        }
        Owner broker = brokers.get(request.path("of").asText());
        if (broker.takes(step, request)) {
            return null;
        }
        String bundle = request.path("bundle").asText();
        String what = request.path("what").asText();
        String none = broker.name + " has no request outstanding: " + what;
        switch (step) {
            case "own":
                broker.own(bundle);
                return null;
            case "look-up":
                broker.lookUp(bundle);
                return null;
            case "let":
                return broker.let(bundle, what, request.path("newest").asBoolean()) ? null : none;
            case "let-unheard":
                return broker.letUnheard(bundle, what) ? null : none;
            case "fail":
                return broker.fail(bundle, what) ? null : none;
            case "let-second":
                return broker.letSecond(bundle, what) ? null : broker.name + " has one such request at most: " + what;
            case "let-and-leave":
                broker.slow(true);
                boolean there = broker.let(bundle, what, true);
                settle();
                broker.slow(false);
                return there ? null : none;
            case "clean-up":
                return broker.close() ? null : broker.name + " has nothing left to clean up";
            case "let-both":
                broker.let(bundle, what, false);
                settle();
                return broker.let(bundle, request.path("then").asText(), true) ? null : none;
            case "hear":
                return broker.hear(bundle) ? null : broker.name + " has no deletion to hear of";
            case "unload":
                return broker.unload(bundle);
            case "remove":
                broker.remove(bundle);
                return null;
            case "disable":
                return broker.disable(bundle) ? null : broker.name + " writes nothing";
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private void begin(JsonNode request) throws Exception {
        end();
        String namespace = "conform/run-" + ++runs;
        request.get("bundles").forEach(name -> bundles.add(name.asText()));
        for (JsonNode name : request.get("brokers")) {
            Owner broker = new Owner(name.asText(), server, namespace, bundles);
            brokers.put(broker.name, broker);
            broker.start();
        }
        // without its parent a creation is no single operation
        brokers.values().iterator().next().store.put("/namespace/" + namespace, new byte[0], Optional.of(-1L))
                .get(HeldStore.SECONDS, TimeUnit.SECONDS);
    }

    /** Ends the run: nothing of it is left on the server. */
    private void end() throws Exception {
        for (Owner broker : brokers.values()) {
            if (broker.lives()) {
                broker.die();
            }
            broker.expire();
            broker.expireFormer();
        }
        brokers.clear();
        bundles.clear();
    }

    /** Waits until every broker waits. */
    private void settle() throws Exception {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (Owner broker : brokers.values()) {
                moved |= broker.lives() && broker.settle();
            }
        }
    }

    private void tell(ObjectNode seen) throws Exception {
        ObjectNode nodes = seen.putObject("nodes");
        for (String bundle : bundles) {
            ObjectNode told = nodes.putObject(bundle);
            Server.Node node = server.node(brokers.values().iterator().next().path(bundle));
            if (node != null) {
                JsonNode value = Lines.JSON.readTree(node.value());
                told.put("holder", StubBroker.named(value.path("nativeUrl").asText()));
                told.put("disabled", value.path("disabled").asBoolean());
                told.put("version", node.version());
                told.put("former", brokers.values().stream().noneMatch(b -> b.session == node.owner()));
            }
        }
        ObjectNode each = seen.putObject("brokers");
        for (Owner broker : brokers.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }

    @Override
    public void close() throws Exception {
        end();
        server.close();
    }
}
