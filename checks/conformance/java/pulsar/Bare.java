package org.apache.pulsar.metadata.coordination.impl;

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
    public static void set(Class<?> declaring, Object of, String name, Object value) throws Exception {
        var field = declaring.getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
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
