package kafka.controller;

import java.util.concurrent.TimeUnit;

/** The thread on which a broker handles what it hears, one task at a time; a task waits at named points until it is let go. */
final class Worker extends Thread {
    private static final int SECONDS = 20;

    /** A task is broken off, because the run is over. */
    private static final class Over extends Error {
        private static final long serialVersionUID = 1;
    }

    /** Something that a broker does. */
    interface Task {
        void run() throws Exception;
    }

    private Task task;
    private String point;
    private boolean over;
    private Throwable failure;

    Worker(String name) {
        super(name);
        setDaemon(true);
        start();
    }

    @Override
    public void run() {
        try {
            while (true) {
                Task next;
                synchronized (this) {
                    while (task == null) {
                        if (over) {
                            return;
                        }
                        wait();
                    }
                    next = task;
                }
                try {
                    next.run();
                } catch (Exception | LinkageError e) {
                    failure = e;
                }
                synchronized (this) {
                    task = null;
                    notifyAll();
                }
            }
        } catch (InterruptedException | Over e) {
            // the run is over
        }
    }

    /** Gives the broker something to do and waits until it is done, or waits. */
    synchronized void does(Task given) throws Exception {
        if (task != null) {
            throw new IllegalStateException(getName() + " has something to do");
        }
        task = given;
        notifyAll();
        still();
    }

    /** On this thread: waits at a point until that is let go. */
    synchronized void waitsAt(String name) {
        if (Thread.currentThread() != this) {
            return;
        }
        point = name;
        notifyAll();
        try {
            while (point != null) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new Over();
        }
        if (over) {
            throw new Over();
        }
    }

    /** Lets the task go on; false if it does not wait there. */
    synchronized boolean let(String name) throws Exception {
        if (!name.equals(point)) {
            return false;
        }
        point = null;
        notifyAll();
        still();
        return true;
    }

    synchronized String point() {
        return point;
    }

    synchronized boolean isFree() {
        return task == null;
    }

    private void still() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (task != null && point == null) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(getName() + " does not come to an end of what it does");
            }
            wait(100);
        }
        if (failure != null) {
            throw new IllegalStateException(getName() + ": " + failure, failure);
        }
    }

    /** Breaks off what the broker does. */
    synchronized void end() {
        over = true;
        point = null;
        notifyAll();
    }
}
