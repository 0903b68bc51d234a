package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.lang.reflect.InvocationTargetException;

/**
 * Asks the classes of a release what they would do. A line holds several cases; each is answered on its own, and what the code
 * throws is an answer like any other.
 */
public final class PolicyBench implements Lines.Target {
    /** Answers one case. */
    interface Rule {
        void answer(JsonNode asked, ObjectNode answer) throws Exception;
    }

    private static Rule rule(String name) {
        switch (name) {
            case "shed":
                return Shedding::answer;
            case "place":
                return Placing::answer;
            case "in turn":
                return InTurn::answer;
            case "preallocate":
                return Preallocating::answer;
            case "split":
                return Splitting::planned;
            case "cut":
                return Splitting::cut;
            case "simple":
                return Simple::answer;
            case "hash":
                return Splitting::hash;
            case "open":
                return Strategies::open;
            case "shed by":
                return Strategies::shed;
            case "close":
                return Strategies::close;
            case "average":
                return Reporting::average;
            case "fixed":
                return Reporting::fixed;
            case "defaults":
                return Reporting::defaults;
            case "report":
                return Reporting::report;
            default:
                return PolicyBench::extensible;
        }
    }

    /** The rules of the extensible manager are compiled only for releases that have it. */
    private static void extensible(JsonNode asked, ObjectNode answer) throws Exception {
        try {
            Class.forName("fencepost.policy.Extensible").getMethod("answer", JsonNode.class, ObjectNode.class)
                    .invoke(null, asked, answer);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception) {
                throw (Exception) e.getCause();
            }
            throw (Error) e.getCause();
        }
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        ArrayNode answers = answer.putArray("answers");
        for (JsonNode asked : request.get("cases")) {
            ObjectNode each = answers.addObject();
            try {
                rule(asked.get("rule").asText()).answer(asked, each);
            } catch (NoSuchMethodException | NoSuchFieldException | ClassNotFoundException e) {
                throw e; // the harness, not the code
            } catch (Exception e) {
                each.put("throws", e.getClass().getSimpleName());
                each.put("message", String.valueOf(e.getMessage()));
            }
        }
    }

    @Override
    public void close() {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(PolicyBench::new);
    }
}
