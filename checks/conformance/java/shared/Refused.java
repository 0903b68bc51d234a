package fencepost;

/** The code cannot take a step; the message says why. */
public final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    public Refused(String why) {
        super(why);
    }
}
