package org.apache.pulsar.metadata.coordination.impl;

import java.util.Arrays;

/** Objects of a broker's classes that are made without their constructors, which would start one. */
public final class Bare {
    private static final sun.misc.Unsafe MAKER = maker();

    private Bare() {
    }

    /** An object without anything in it. */
    public static <T> T of(Class<T> type) {
        try {
            return type.cast(MAKER.allocateInstance(type));
        } catch (InstantiationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Gives a field its value that a class of Pulsar declares. */
    public static void set(Class<?> declaring, Object of, String name, Object value) {
        try {
            var field = declaring.getDeclaredField(name);
            field.setAccessible(true);
            field.set(of, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether a class of Pulsar declares a field, as not every release does. */
    public static boolean declares(Class<?> declaring, String name) {
        return Arrays.stream(declaring.getDeclaredFields()).anyMatch(each -> each.getName().equals(name));
    }

    /** Gives an object its logger: since 5.0.0 that is a field of topics, made from one of their class. */
    public static void logged(Class<?> declaring, Object of) {
        for (var field : declaring.getDeclaredFields()) {
            if (field.getName().equals("LOG") && field.getType().getName().contains("slog")) {
                field.setAccessible(true);
                try {
                    set(declaring, of, "log", field.get(null));
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static sun.misc.Unsafe maker() {
        try {
            var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
