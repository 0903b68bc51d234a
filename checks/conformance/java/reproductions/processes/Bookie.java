package fencepost;

/** A bookie as it is shipped, in a process that ends when its standard input does: it never outlives whoever started it. */
public final class Bookie {
    private Bookie() {
    }

    /** The arguments are those of BookKeeper's own main class. */
    public static void main(String[] arguments) throws Exception {
        Thread watching = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // nothing is said to a bookie
                }
            } catch (java.io.IOException e) {
                // as if it had ended
            }
            Runtime.getRuntime().halt(0);
        });
        watching.setDaemon(true);
        watching.start();
        org.apache.bookkeeper.server.Main.main(arguments);
    }
}
