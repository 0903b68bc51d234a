package fencepost;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * One run of the real classes, step by step, in a JVM of its own. A test is aborted (skipped) where the code does not go the way that the
 * test describes: then it does not have the bug, or not this way to it.
 */
final class Scenario implements AutoCloseable {
    private final ObjectMapper json = new ObjectMapper().configure(JsonParser.Feature.ALLOW_SINGLE_QUOTES, true);
    private final Process process;
    private final Writer to;
    private final BufferedReader from;
    private JsonNode seen;
    private int taken;

    /** Starts what takes the steps: the bench of this class, with options of its JVM and its arguments. */
    Scenario(List<String> options, String bench, String... arguments) throws IOException {
        Path folder = Files.createTempDirectory("fencepost-"); // the bench removes it in the end
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java"));
        command.add("-Djava.io.tmpdir=" + folder);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), bench));
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command).directory(folder.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        to = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        from = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Begins the run, with fresh objects. */
    void begin(String request) throws IOException {
        ask("the beginning", request);
    }

    /** Takes a step of the protocol, and has the real classes do what it stands for. */
    void step(String action, String request) throws IOException {
        taken++;
        ask("step " + taken + ", " + action, request);
    }

    private void ask(String what, String request) throws IOException {
        to.write(json.writeValueAsString(json.readTree(request)) + "\n");
        to.flush();
        String line = from.readLine();
        if (line == null) {
            throw new IllegalStateException("the bench ended at " + what);
        }
        JsonNode answer = json.readTree(line);
        if (answer.has("error")) {
            throw new IllegalStateException("the bench failed at " + what + ": " + answer.get("error").asText());
        }
        if (answer.has("refused")) {
            throw new TestAbortedException("the code does not go this way, at " + what + ": " + answer.get("refused").asText());
        }
        seen = answer.get("seen");
    }

    /** The run ends as described, and that should not be: fails with the reason. Otherwise the test is aborted. */
    void mustNotEndWith(String expected, String why) throws IOException {
        Iterator<Map.Entry<String, JsonNode>> fields = json.readTree(expected).fields();
        while (fields.hasNext()) {
            Map.Entry<String, JsonNode> field = fields.next();
            JsonNode found = seen.path(field.getKey());
            if (!found.equals(field.getValue())) {
                throw new TestAbortedException("the code ends otherwise: " + field.getKey() + " is " + found + ", not " + field.getValue());
            }
        }
        throw new AssertionFailedError(why + "\nIn the end: " + seen.toPrettyString());
    }

    @Override
    public void close() throws Exception {
        process.getOutputStream().close();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }
}
