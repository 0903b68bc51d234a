package org.apache.bookkeeper.bookie;

import java.util.concurrent.TimeUnit;

/** Where a checkpoint waits before it saves, and again before it moves the log mark, until it is let go on. */
public final class Gate {
    static final int SECONDS = 20;
    /** Between the journals: a checkpoint has read how far the first is, and not yet the second. */
    static final String SECOND = "read the second journal";
    static final String SAVE = "save";
    static final String MARK = "mark";

    /** The process is gone: whoever waits goes no further. */
    public static final class Gone extends RuntimeException {
        Gone() {
            super("the process has ended");
        }
    }

    private String at;
    private boolean letOn;
    private boolean gone;

    /** Waits here; nothing is held once the process is gone, because what is left of it is only put away. */
    synchronized void pass(String where) {
        if (gone) {
            return;
        }
        at = where;
        notifyAll();
        try {
            while (!letOn && !gone) {
                wait();
            }
        } catch (InterruptedException e) {
            gone = true;
        }
        at = null;
        letOn = false;
        if (gone) {
            throw new Gone();
        }
    }

    /** Where a checkpoint waits now; null if none does. */
    synchronized String at() {
        return at;
    }

    /** Lets on who waits there. */
    synchronized void let(String where) {
        if (!where.equals(at)) {
            throw new IllegalStateException("no checkpoint waits to " + where + ", but " + at);
        }
        at = null;
        letOn = true;
        notifyAll();
    }

    /** Waits until a checkpoint is there, or the thread that would come has ended; tells which. */
    boolean arrives(String where, Thread comes) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        synchronized (this) {
            while (!where.equals(at)) {
                if (comes != null && !comes.isAlive()) {
                    return false;
                }
                if (System.nanoTime() > end) {
                    throw new IllegalStateException("no checkpoint comes to " + where);
                }
                wait(comes == null ? SECONDS * 1000L : 5);
            }
            return true;
        }
    }

    /** Ends who waits. */
    synchronized void abandon() {
        gone = true;
        notifyAll();
    }

    /** Waits once on a monitor that the caller holds, up to a moment; raises with what is told if that is over. */
    static void await(Object monitor, long end, String otherwise) throws InterruptedException {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
            throw new IllegalStateException(otherwise);
        }
        monitor.wait(left);
    }
}
