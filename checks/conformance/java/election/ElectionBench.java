package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Server;

/** One election at a time: brokers with a node to fight for. {@code begin} has the {@code brokers}, {@code let} has {@code what}. */
public final class ElectionBench extends ClientsBench<Broker> {
    private String path;

    private ElectionBench() throws Exception {
        super(Wire.server());
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ElectionBench::new);
    }

    @Override
    protected void begin(JsonNode request, int run) throws Exception {
        path = "/leader-" + run;
        for (JsonNode name : request.get("brokers")) {
            Broker broker = new Broker(name.asText(), server, path);
            members.put(broker.name, broker);
            broker.start();
        }
    }

    @Override
    protected void take(Broker broker, String step, JsonNode request) throws Exception {
        if (broker.takes(step, request)) {
            return;
        }
        switch (step) {
            case "let":
                String what = request.path("what").asText();
                boolean there = what.equals("retry") ? broker.retry() : broker.let(what);
                orRefuse(there, broker.name + " has no request outstanding: " + what);
                break;
            case "let-unheard":
                orRefuse(broker.letUnheard(request.path("what").asText()), broker.name + " has no such request outstanding");
                break;
            case "hear":
                orRefuse(broker.hear(), broker.name + " has no deletion to hear of");
                break;
            case "fail":
                orRefuse(broker.fail(), broker.name + " has no request outstanding");
                break;
            case "close":
                broker.close();
                break;
            case "end":
                broker.end();
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        Server.Node node = server.node(path);
        ObjectNode leader = seen.putObject("node");
        if (node != null) {
            leader.put("holder", Lines.JSON.readTree(node.value()).asText());
            leader.put("version", node.version());
            leader.put("former", members.values().stream().noneMatch(b -> b.session == node.owner()));
        }
        ObjectNode each = seen.putObject("brokers");
        for (Broker broker : members.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }
}
