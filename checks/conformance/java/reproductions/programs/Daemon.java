package fencepost;

import java.io.IOException;
import java.util.Arrays;

/** A program of a release as it is shipped, in a process that ends when its standard input does: it never outlives its starter. */
public final class Daemon {
    private Daemon() {
    }

    /** The first argument is the program's own main class, the others are that one's. */
    public static void main(String[] arguments) throws Throwable {
        Thread watching = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // nothing is said to it
                }
            } catch (IOException e) {
                // as if it had ended
            }
            Runtime.getRuntime().halt(0);
        });
        watching.setDaemon(true);
        watching.start();
        String[] own = Arrays.copyOfRange(arguments, 1, arguments.length);
        Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null, (Object) own);
    }
}
