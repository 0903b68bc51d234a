package org.apache.bookkeeper.bookie;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.common.collections.BatchedArrayBlockingQueue;

/** A queue of the journal that hands on what is in it only when it is let go, and all of that at once. */
final class HeldQueue<T> extends BatchedArrayBlockingQueue<T> {
    private final List<T> held = new ArrayList<>();
    private final Deque<T> released = new ArrayDeque<>();
    private boolean takerWaits;

    HeldQueue() {
        super(1);
    }

    @Override
    public void put(T element) {
        Apart.passes(Apart.LOG);
        synchronized (held) {
            held.add(element);
        }
    }

    /** What waits to be let go, in its order. */
    List<T> held() {
        synchronized (held) {
            return new ArrayList<>(held);
        }
    }

    /** Lets all of it go, and waits until the thread that takes it is back for more. */
    void release() throws InterruptedException {
        synchronized (held) {
            released.addAll(held);
            held.clear();
            held.notifyAll();
        }
        awaitTaker();
    }

    /** Waits until the thread that takes from here has nothing left to do. */
    void awaitTaker() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Gate.SECONDS);
        synchronized (held) {
            while (!takerWaits || !released.isEmpty()) {
                Gate.await(held, end, "the journal's thread does not come back");
            }
        }
    }

    @Override
    public int takeAll(T[] into) throws InterruptedException {
        synchronized (held) {
            while (released.isEmpty()) {
                takerWaits = true;
                held.notifyAll();
                held.wait();
            }
            takerWaits = false;
            return moved(into);
        }
    }

    @Override
    public int pollAll(T[] into, long timeout, TimeUnit unit) {
        synchronized (held) {
            return moved(into);
        }
    }

    private int moved(T[] into) {
        int count = 0;
        while (count < into.length && !released.isEmpty()) {
            into[count++] = released.poll();
        }
        return count;
    }
}
