package fencepost.bytecode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.ArrayList;
import java.util.List;

/** Tells of the classes of some jars what their methods do, and what each calls. */
public final class MethodsBench {
    private MethodsBench() {
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(() -> new Lines.Target() {
            @Override
            public void answer(JsonNode request, ObjectNode answer) throws Exception {
                try (Jars jars = new Jars(texts(request.get("jars")))) {
                    ObjectNode classes = answer.putObject("classes");
                    for (String name : texts(request.get("classes"))) {
                        for (String full : jars.named(name)) {
                            new Methods(jars, full).tell(classes.putObject(full));
                        }
                    }
                }
            }

            @Override
            public void close() {
            }
        });
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }
}
