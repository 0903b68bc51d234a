package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Processes that take steps one at a time, and are new for each run.
 *
 * <p>A request is {@code {"do": step, "of": member}} with what the step needs; {@code begin} starts a run. The answer has
 * {@code seen}, or {@code refused} if the code cannot take the step.
 */
public abstract class MembersBench<M> implements Lines.Target {
    protected final Map<String, M> members = new LinkedHashMap<>();
    private int runs;

    @Override
    public final void answer(JsonNode request, ObjectNode answer) throws Exception {
        try {
            String step = request.path("do").asText();
            if (step.equals("begin")) {
                end();
                begin(request, ++runs);
            } else {
                M member = members.get(request.path("of").asText());
                comesTo(member);
                take(member, step, request);
            }
            settle();
            tell(answer.putObject("seen"));
        } catch (Refused why) {
            settle();
            answer.put("refused", why.getMessage());
        }
    }

    /** Makes the members of a run, whose number no other has. */
    protected abstract void begin(JsonNode request, int run) throws Exception;

    /** A step is to be taken of a member, or of none; only {@code take} and {@code settle} come of it. */
    protected void comesTo(M member) {
    }

    /** Takes a step; throws {@code Refused} if the code cannot take it. */
    protected abstract void take(M member, String step, JsonNode request) throws Exception;

    /** Waits until every member waits. */
    protected abstract void settle() throws Exception;

    /** What there is to be seen. */
    protected abstract void tell(ObjectNode seen) throws Exception;

    /** Ends the run: nothing of it is left, and there are no members. */
    protected abstract void end() throws Exception;

    protected static void orRefuse(boolean done, String why) throws Refused {
        if (!done) {
            throw new Refused(why);
        }
    }
}
