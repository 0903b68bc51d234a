package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Refused;
import fencepost.Server;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Some bundles at a time, and brokers that own them. A request has a {@code bundle}, what a subclass says for {@code begin}, and
 * {@code what} for the steps of requests.
 */
abstract class BundlesBench<T extends Owning> extends ClientsBench<T> {
    BundlesBench(Server server) {
        super(server);
    }

    @Override
    protected final void begin(JsonNode request, int run) throws Exception {
        begin(request, "conform/run-" + run);
    }

    /** Starts the brokers of a run, in a namespace of its own. */
    abstract void begin(JsonNode request, String namespace) throws Exception;

    /** Creates the parent of all owner nodes: without it a creation is no single operation. */
    final void withParents(String namespace) throws Exception {
        members.values().iterator().next().store.put("/namespace/" + namespace, new byte[0], Optional.of(-1L))
                .get(HeldStore.SECONDS, TimeUnit.SECONDS);
    }

    /** Takes a step that is neither of sessions nor of requests. */
    abstract void take(T broker, String step, String bundle, JsonNode request) throws Exception;

    /** Takes a step of no broker's. */
    void take(String step) throws Exception {
        throw new IllegalArgumentException("no such step: " + step);
    }

    @Override
    protected final void take(T broker, String step, JsonNode request) throws Exception {
        if (broker == null) {
            take(step);
            return;
        }
        String bundle = request.path("bundle").asText();
        boolean newest = request.path("newest").asBoolean();
        if (!broker.takes(step, request) && !broker.lets(step, bundle, request.path("what").asText(), newest)) {
            if (step.equals("own")) {
                broker.own(bundle);
            } else if (step.equals("let-both")) {
                letBoth(broker, bundle, request);
            } else {
                take(broker, step, bundle, request);
            }
        }
    }

    /** The oldest request of a kind goes, and then what its answer asks for. */
    private void letBoth(T broker, String bundle, JsonNode request) throws Exception {
        broker.let(bundle, request.path("what").asText(), false);
        settle();
        if (!broker.let(bundle, request.path("then").asText(), true)) {
            throw new Refused(broker.name + " has no request outstanding: " + request.path("then").asText());
        }
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        ObjectNode nodes = seen.putObject("nodes");
        T any = members.values().iterator().next();
        for (String bundle : any.bundles()) {
            ObjectNode told = nodes.putObject(bundle);
            Server.Node node = any.server().node(any.path(bundle));
            if (node != null) {
                JsonNode value = Lines.JSON.readTree(node.value());
                T holder = named(value);
                told.put("holder", holder.name);
                told.put("disabled", value.path("disabled").asBoolean());
                told.put("version", node.version());
                told.put("former", holder.session() != node.owner());
            }
        }
        ObjectNode each = seen.putObject("brokers");
        for (T broker : members.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }

    /** The broker that the value of an owner node names. */
    final T named(JsonNode value) {
        String address = value.path("nativeUrl").asText();
        return members.values().stream().filter(broker -> broker.isAt(address)).findAny().orElseThrow();
    }
}
