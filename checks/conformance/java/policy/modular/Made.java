package fencepost.policy;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.policies.data.loadbalancer.LocalBrokerData;
import org.apache.pulsar.policies.data.loadbalancer.NamespaceBundleStats;
import org.apache.pulsar.policies.data.loadbalancer.ResourceUsage;

/**
 * Pulsar's own objects from JSON, by the names of their fields, whatever the release: classes that moved are found by either name.
 * A number that JSON does not have is a string.
 */
final class Made {
    private static final String NEW = "org.apache.pulsar.policies.data.loadbalancer.";
    private static final String OLD = "org.apache.pulsar.broker.";
    static final Class<?> BUNDLE_DATA = either("BundleData");
    static final Class<?> MESSAGE_DATA = either("TimeAverageMessageData");
    static final Class<?> BROKER_DATA = either("BrokerData");
    static final Class<?> BROKER_AVERAGE = either("TimeAverageBrokerData");
    private static final Map<Class<?>, Map<String, Field>> FIELDS = new HashMap<>();
    private static final sun.misc.Unsafe UNSAFE = unsafe();

    private Made() {
    }

    private static Class<?> either(String name) {
        try {
            return Class.forName(NEW + name);
        } catch (ClassNotFoundException e) {
            try {
                return Class.forName(OLD + name);
            } catch (ClassNotFoundException none) {
                throw new IllegalStateException(none);
            }
        }
    }

    private static sun.misc.Unsafe unsafe() {
        try {
            Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An object whose constructor does not run. */
    static <T> T bare(Class<T> type) throws InstantiationException {
        return type.cast(UNSAFE.allocateInstance(type));
    }

    static Object create(Class<?> type, Object... arguments) throws Exception {
        for (Constructor<?> each : type.getDeclaredConstructors()) {
            if (each.getParameterCount() == arguments.length && fits(each.getParameterTypes(), arguments)) {
                each.setAccessible(true);
                return each.newInstance(arguments);
            }
        }
        throw new NoSuchMethodException(type + " of " + arguments.length);
    }

    private static boolean fits(Class<?>[] types, Object[] arguments) {
        for (int i = 0; i < types.length; i++) {
            if (arguments[i] != null && !types[i].isPrimitive() && !types[i].isInstance(arguments[i])) {
                return false;
            }
        }
        return true;
    }

    /** Calls the method of that name and so many parameters, wherever in the class it is; its own exception comes out. */
    static Object call(Object on, String name, Object... arguments) throws Exception {
        for (Class<?> type = on.getClass(); type != null; type = type.getSuperclass()) {
            for (Method each : type.getDeclaredMethods()) {
                if (each.getName().equals(name) && each.getParameterCount() == arguments.length && !each.isBridge()) {
                    each.setAccessible(true);
                    try {
                        return each.invoke(on, arguments);
                    } catch (InvocationTargetException e) {
                        if (e.getCause() instanceof Exception) {
                            throw (Exception) e.getCause();
                        }
                        throw e;
                    }
                }
            }
        }
        throw new NoSuchMethodException(on.getClass() + "." + name);
    }

    static boolean has(Class<?> type, String method) {
        return Arrays.stream(type.getDeclaredMethods()).anyMatch(each -> each.getName().equals(method));
    }

    static Field field(Class<?> type, String name) throws NoSuchFieldException {
        Map<String, Field> known = FIELDS.computeIfAbsent(type, each -> new HashMap<>());
        Field found = known.get(name);
        if (found == null) {
            found = sought(type, name);
            known.put(name, found);
        }
        return found;
    }

    private static Field sought(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            try {
                Field found = each.getDeclaredField(name);
                found.setAccessible(true);
                return found;
            } catch (NoSuchFieldException e) {
                // it may be one of the superclass
            }
        }
        throw new NoSuchFieldException(type + "." + name);
    }

    static Object get(Object of, String name) throws ReflectiveOperationException {
        return field(of.getClass(), name).get(of);
    }

    static void put(Object into, String name, Object value) throws ReflectiveOperationException {
        field(into.getClass(), name).set(into, value);
    }

    static double number(JsonNode node) {
        return node.isTextual() ? Double.parseDouble(node.asText()) : node.asDouble();
    }

    /** Sets fields of numbers, truth values, text and sets of text. */
    static void fill(Object into, JsonNode values) throws ReflectiveOperationException {
        for (var each = values.fields(); each.hasNext();) {
            Map.Entry<String, JsonNode> entry = each.next();
            Field field = field(into.getClass(), entry.getKey());
            JsonNode value = entry.getValue();
            Class<?> type = field.getType();
            if (type == double.class || type == Double.class) {
                field.set(into, number(value));
            } else if (type == int.class || type == Integer.class) {
                field.set(into, value.asInt());
            } else if (type == long.class || type == Long.class) {
                field.set(into, value.asLong());
            } else if (type == boolean.class || type == Boolean.class) {
                field.set(into, value.asBoolean());
            } else if (type == String.class) {
                field.set(into, value.isNull() ? null : value.asText());
            } else if (type == ResourceUsage.class) {
                field.set(into, new ResourceUsage(number(value.get(0)), number(value.get(1))));
            } else if (Set.class.isAssignableFrom(type)) {
                field.set(into, names(value));
            } else {
                throw new NoSuchFieldException(field + " cannot be set");
            }
        }
    }

    static Set<String> names(JsonNode list) {
        Set<String> names = new LinkedHashSet<>();
        list.forEach(name -> names.add(name.asText()));
        return names;
    }

    static ServiceConfiguration configuration(JsonNode settings) throws ReflectiveOperationException {
        ServiceConfiguration made = new ServiceConfiguration();
        fill(made, settings);
        return made;
    }

    static NamespaceBundleStats stats(JsonNode values) throws ReflectiveOperationException {
        NamespaceBundleStats made = new NamespaceBundleStats();
        fill(made, values);
        return made;
    }

    static Map<String, NamespaceBundleStats> allStats(JsonNode byBundle) throws ReflectiveOperationException {
        Map<String, NamespaceBundleStats> made = new LinkedHashMap<>();
        for (var each = byBundle.fields(); each.hasNext();) {
            var entry = each.next();
            made.put(entry.getKey(), stats(entry.getValue()));
        }
        return made;
    }

    static LocalBrokerData report(JsonNode values) throws ReflectiveOperationException {
        LocalBrokerData made = new LocalBrokerData();
        for (var each = values.fields(); each.hasNext();) {
            var entry = each.next();
            switch (entry.getKey()) {
                case "lastStats" -> put(made, "lastStats", allStats(entry.getValue()));
                case "bundles" -> put(made, "bundles", new HashSet<>(names(entry.getValue())));
                default -> fill(made, com.fasterxml.jackson.databind.node.JsonNodeFactory.instance.objectNode()
                        .set(entry.getKey(), entry.getValue()));
            }
        }
        return made;
    }

    /** Averages: [in, out, bytes in, bytes out, samples, at most]. */
    private static Object average(JsonNode values) throws Exception {
        Object made = create(MESSAGE_DATA);
        String[] names = {"msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut"};
        for (int i = 0; i < names.length; i++) {
            put(made, names[i], number(values.get(i)));
        }
        put(made, "numSamples", values.get(4).asInt());
        put(made, "maxSamples", values.get(5).asInt());
        return made;
    }

    static Object bundle(JsonNode values) throws Exception {
        Object made = create(BUNDLE_DATA);
        put(made, "shortTermData", average(values.get("short")));
        put(made, "longTermData", average(values.get("long")));
        put(made, "topics", values.get("topics").asInt());
        return made;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static LoadData load(JsonNode values) throws Exception {
        LoadData made = new LoadData();
        for (var each = values.get("brokers").fields(); each.hasNext();) {
            var entry = each.next();
            ((Map) made.getBrokerData()).put(entry.getKey(), create(BROKER_DATA, report(entry.getValue())));
        }
        for (var each = values.get("bundles").fields(); each.hasNext();) {
            var entry = each.next();
            ((Map) made.getBundleData()).put(entry.getKey(), bundle(entry.getValue()));
        }
        for (var each = values.get("recent").fields(); each.hasNext();) {
            var entry = each.next();
            made.getRecentlyUnloadedBundles().put(entry.getKey(), entry.getValue().asLong());
        }
        return made;
    }

    /** A strategy by the name of its class; one of 2.10 may want its settings. */
    static Object strategy(String name, ServiceConfiguration conf) throws Exception {
        Class<?> type = Class.forName(name);
        try {
            return create(type);
        } catch (NoSuchMethodException e) {
            return create(type, conf);
        }
    }
}
