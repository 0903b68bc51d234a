package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One election at a time: a ZooKeeper server, which stays, and brokers with a node to fight for, which are new for each run.
 *
 * <p>A request is {@code {"do": ..., "of": broker}}, with {@code brokers} for {@code begin} and {@code what} for {@code let}. The
 * answer has {@code seen}, or {@code refused} if the code cannot take the step.
 */
public final class ElectionBench implements Lines.Target {
    private final Server server = new Server();
    private final Map<String, Broker> brokers = new LinkedHashMap<>();
    private int runs;
    private String path;

    private ElectionBench() throws Exception {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ElectionBench::new);
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
            begin(request.get("brokers"));
            return null;
        }
        Broker broker = brokers.get(request.path("of").asText());
        if (broker.takes(step, request)) {
            return null;
        }
        switch (step) {
            case "let":
                String what = request.path("what").asText();
                boolean there = what.equals("retry") ? broker.retry() : broker.let(what);
                return there ? null : broker.name + " has no request outstanding: " + what;
            case "hear":
                return broker.hear() ? null : broker.name + " has no deletion to hear of";
            case "close":
                broker.close();
                return null;
            case "end":
                broker.end();
                return null;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private void begin(JsonNode names) throws Exception {
        end();
        path = "/leader-" + ++runs;
        for (JsonNode name : names) {
            Broker broker = new Broker(name.asText(), server, path);
            brokers.put(broker.name, broker);
            broker.start();
        }
    }

    /** Ends the run: nothing of it is left on the server. */
    private void end() throws Exception {
        for (Broker broker : brokers.values()) {
            if (broker.lives()) {
                broker.die();
            }
            broker.expire();
            broker.expireFormer();
        }
        brokers.clear();
    }

    /** Waits until every broker waits. */
    private void settle() throws Exception {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (Broker broker : brokers.values()) {
                moved |= broker.lives() && broker.settle();
            }
        }
    }

    private void tell(ObjectNode seen) throws Exception {
        Server.Node node = server.node(path);
        ObjectNode leader = seen.putObject("node");
        if (node != null) {
            leader.put("holder", Lines.JSON.readTree(node.value()).asText());
            leader.put("version", node.version());
            leader.put("former", brokers.values().stream().noneMatch(b -> b.session == node.owner()));
        }
        ObjectNode each = seen.putObject("brokers");
        for (Broker broker : brokers.values()) {
            broker.tell(each.putObject(broker.name));
        }
    }

    @Override
    public void close() throws Exception {
        end();
        server.close();
    }
}
