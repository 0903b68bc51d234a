package fencepost;

/** Where a thread of the code under test waits until a step of the run lets it go on, one place at a time. */
public final class Gate {
    private String at;
    private Object answer;

    /** The thread waits at a place; returns what the step lets it go on with. */
    public synchronized Object pass(String place) throws InterruptedException {
        at = place;
        try {
            while (answer == null) {
                wait();
            }
            return answer;
        } finally {
            at = null;
            answer = null;
        }
    }

    /** The place where a thread waits, null if none does. */
    public synchronized String at() {
        return answer == null ? at : null;
    }

    /** The thread that waits goes on with this. */
    public synchronized void open(Object with) {
        if (at == null || answer != null) {
            throw new IllegalStateException("nobody waits");
        }
        answer = with;
        notifyAll();
    }
}
