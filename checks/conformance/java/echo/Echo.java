package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Answers each request with itself; what the tests of a session talk to. */
public final class Echo implements Lines.Target {
    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        if (request.has("fail")) {
            throw new IllegalStateException(request.get("fail").asText());
        }
        if (request.has("sleep")) {
            Thread.sleep(request.get("sleep").asLong());
        }
        if (request.has("halt")) {
            System.out.println("what a library prints");
            Runtime.getRuntime().halt(request.get("halt").asInt());
        }
        answer.set("echo", request);
    }

    @Override
    public void close() {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(Echo::new);
    }
}
