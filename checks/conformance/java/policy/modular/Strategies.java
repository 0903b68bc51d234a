package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashMap;
import java.util.Map;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadSheddingStrategy;

/**
 * Strategies of anybody's, from a jar. Each that is opened has a class loader of its own, so that what it keeps in static fields is
 * not another's; static fields that change are told all the same.
 */
public final class Strategies {
    private static final Map<Integer, Object> OPEN = new HashMap<>();
    private static int last = 0;

    private Strategies() {
    }

    static void open(JsonNode asked, ObjectNode answer) throws Exception {
        File jar = new File(asked.get("jar").asText());
        URLClassLoader loader = new URLClassLoader(new URL[] {jar.toURI().toURL()}, Strategies.class.getClassLoader());
        Class<?> type;
        try {
            type = Class.forName(asked.get("class").asText(), true, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            answer.put("refused", "has no class " + asked.get("class").asText() + " that can be loaded: " + e);
            return;
        }
        Object made;
        try {
            made = type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            answer.put("refused", type.getName() + " cannot be made without arguments: " + e);
            return;
        }
        if (!(made instanceof LoadSheddingStrategy) && !isUnloadStrategy(type)) {
            answer.put("refused", type.getName() + " is no LoadSheddingStrategy and no NamespaceUnloadStrategy");
            return;
        }
        OPEN.put(++last, made);
        answer.put("session", last);
        answer.put("extensible", !(made instanceof LoadSheddingStrategy));
        ArrayNode fields = answer.putArray("static");
        for (Class<?> each = type; each != null && each.getClassLoader() == loader; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                boolean constant = Modifier.isFinal(field.getModifiers()) && isPlain(field.getType());
                if (Modifier.isStatic(field.getModifiers()) && !constant && !field.isSynthetic()) {
                    fields.add(each.getName() + "." + field.getName());
                }
            }
        }
    }

    private static boolean isPlain(Class<?> type) {
        return type.isPrimitive() || type == String.class || type.getSimpleName().startsWith("Log");
    }

    private static boolean isUnloadStrategy(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Class<?> one : each.getInterfaces()) {
                if (one.getSimpleName().equals("NamespaceUnloadStrategy")) {
                    return true;
                }
            }
        }
        return false;
    }

    static void shed(JsonNode asked, ObjectNode answer) throws Exception {
        Object strategy = OPEN.get(asked.get("session").asInt());
        if (strategy instanceof LoadSheddingStrategy) {
            ServiceConfiguration conf = Made.configuration(asked.get("conf"));
            Shedding.tell((LoadSheddingStrategy) strategy, Made.names(asked.get("active")));
            ObjectNode unload = answer.putObject("unload");
            ((LoadSheddingStrategy) strategy).findBundlesForUnloading(Made.load(asked), conf).asMap()
                    .forEach((broker, bundles) -> Shedding.names(unload.putArray(broker), bundles));
        } else {
            Class.forName("fencepost.policy.Extensible").getMethod("shed", Object.class, JsonNode.class, ObjectNode.class)
                    .invoke(null, strategy, asked, answer);
        }
    }

    static void close(JsonNode asked, ObjectNode answer) {
        answer.put("closed", OPEN.remove(asked.get("session").asInt()) != null);
    }
}
