package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One election at a time: brokers with a node to fight for, and one lookup that wanders among them. {@code begin} has the
 * {@code brokers} and the {@code value} that all propose, if that is the same; {@code let} has {@code what}; {@code redirect} and
 * {@code choose} have the broker {@code to} which the lookup goes on.
 */
public final class ElectionBench extends ClientsBench<Broker> {
    private static final String NOBODY = "nobody";

    private String path;
    private String asked;
    private boolean authoritative;

    private ElectionBench() throws Exception {
        super(Wire.server());
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ElectionBench::new);
    }

    @Override
    protected void begin(JsonNode request, int run) throws Exception {
        path = "/leader-" + run;
        goesTo(NOBODY, false);
        for (JsonNode name : request.get("brokers")) {
            Broker broker = new Broker(name.asText(), server, path, request.path("value").asText(name.asText()));
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
            case "forget":
                broker.forget();
                break;
            case "ask":
                goesTo(broker.name, false);
                break;
            case "give-up":
                goesTo(NOBODY, false);
                break;
            case "redirect":
            case "choose":
            case "take":
                lookUp(broker, step, request.path("to").asText(broker.name));
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private void goesTo(String broker, boolean decided) {
        asked = broker;
        authoritative = decided;
    }

    /** The lookup is answered by the broker as the step says, or the step is refused. */
    private void lookUp(Broker broker, String step, String to) throws Exception {
        Set<String> active = members.values().stream().filter(b -> b.lives() && server.has(b.session)).map(b -> b.name)
                .collect(Collectors.toSet());
        Lookup lookup = broker.lookUp(authoritative, active, to);
        orRefuse(lookup.next() != null, broker.name + " waits until it knows who leads");
        orRefuse(lookup.hasChosen() == step.equals("choose"), broker.name + (lookup.hasChosen() ? " chooses" : " does not choose"));
        orRefuse(lookup.next().equals(to), broker.name + " sends the lookup on to " + lookup.next());
        goesTo(to.equals(broker.name) ? NOBODY : to, !to.equals(broker.name) && lookup.isAuthoritative());
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        seen.put("asked", asked);
        seen.put("authoritative", authoritative);
        Server.Node node = server.node(path);
        ObjectNode leader = seen.putObject("node");
        if (node != null) {
            leader.put("holder", members.values().stream().filter(b -> b.had(node.owner())).findAny().orElseThrow().name);
            leader.put("version", node.version());
            leader.put("former", members.values().stream().noneMatch(b -> b.session == node.owner()));
        }
        ObjectNode each = seen.putObject("brokers");
        for (Broker broker : members.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }
}
