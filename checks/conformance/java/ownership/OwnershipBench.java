package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.ArrayList;
import java.util.List;

/** The locks of brokers and their OwnershipCache; {@code begin} has the names of {@code brokers} and {@code bundles}. */
public final class OwnershipBench extends BundlesBench<Owner> {
    private OwnershipBench() throws Exception {
        super(Wire.server());
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(OwnershipBench::new);
    }

    @Override
    void begin(JsonNode request, String namespace) throws Exception {
        List<String> bundles = new ArrayList<>();
        request.get("bundles").forEach(name -> bundles.add(name.asText()));
        for (JsonNode name : request.get("brokers")) {
            Owner broker = new Owner(name.asText(), server, namespace, bundles);
            members.put(broker.name, broker);
            broker.start();
        }
        withParents(namespace);
    }

    @Override
    void take(Owner broker, String step, String bundle, JsonNode request) throws Exception {
        String what = request.path("what").asText();
        String none = broker.name + " has no request outstanding: " + what;
        switch (step) {
            case "look-up":
                broker.lookUp(bundle);
                break;
            case "let-second":
                orRefuse(broker.letSecond(bundle, what), broker.name + " has one such request at most: " + what);
                break;
            case "let-and-leave":
                broker.slow(true);
                boolean there = broker.let(bundle, what, true);
                settle();
                broker.slow(false);
                orRefuse(there, none);
                break;
            case "clean-up":
                orRefuse(broker.close(), broker.name + " has nothing left to clean up");
                break;
            case "unload":
                broker.unload(bundle);
                break;
            case "remove":
                broker.remove(bundle);
                break;
            case "disable":
                orRefuse(broker.disable(bundle), broker.name + " writes nothing");
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }
}
