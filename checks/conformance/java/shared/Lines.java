package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Speaks with Fencepost: a JSON object on each line of standard input, an object with what came of it on each line of standard
 * output, until the input ends. What a library prints goes to standard error.
 *
 * <p>An exception of the target becomes an answer with {@code error}: the harness failed. That the code under test does something
 * else than it should is no error; a target says it in words of its own.
 */
public final class Lines {
    public static final ObjectMapper JSON = new ObjectMapper();

    /** What answers the requests. */
    public interface Target extends AutoCloseable {
        void answer(JsonNode request, ObjectNode answer) throws Exception;
    }

    /** Makes the target, once standard output is out of the way of the libraries. */
    public interface Start {
        Target make() throws Exception;
    }

    private Lines() {
    }

    /** Serves until standard input ends, then closes the target and ends the JVM, whatever threads are left. */
    public static void serve(Start start) throws Exception {
        OutputStream out = System.out;
        System.setOut(new PrintStream(System.err, true, StandardCharsets.UTF_8));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Target target = null;
        int status = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                if (target == null) {
                    target = start.make();
                }
                target.answer(JSON.readTree(line), answer);
            } catch (Exception | LinkageError e) {
                answer.removeAll();
                answer.put("error", e.toString());
                StringWriter trace = new StringWriter();
                e.printStackTrace(new PrintWriter(trace));
                System.err.println(trace);
                status = 1;
            }
            out.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
        close(target);
        for (String property : List.of("java.io.tmpdir", "fencepost.files")) {
            File temporary = new File(System.getProperty(property, ""));
            if (temporary.getName().startsWith("fencepost-")) {
                Folders.delete(temporary); // whoever made it for us may have been killed
            }
        }
        Runtime.getRuntime().halt(status);
    }

    /** Closes in bounded time: a store that does not end must not keep the JVM. */
    private static void close(Target target) throws InterruptedException {
        if (target == null) {
            return;
        }
        Thread closing = new Thread(() -> {
            try {
                target.close();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        closing.setDaemon(true);
        closing.start();
        closing.join(8000);
    }
}
