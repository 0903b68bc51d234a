package org.apache.pulsar.metadata.coordination.impl;

import fencepost.Server;
import java.util.concurrent.CountDownLatch;

/**
 * A broker that shuts down and hands over what it owns (cleanOwnerships). What runs on this thread waits before it looks at the
 * records until a step has it look.
 */
final class Leaving extends Thread {
    private final Channel channel;
    private final CountDownLatch look = new CountDownLatch(1);
    private volatile boolean waits;
    private volatile boolean looked;

    Leaving(Channel channel) {
        super("leaving");
        setDaemon(true);
        this.channel = channel;
    }

    @Override
    public void run() {
        try {
            channel.cleanOwnerships();
        } catch (Channel.CutShort e) {
            // it would go on to leave the registry when the time for that wait is up
        }
    }

    /** Called on this thread when the records have been read as far as they are to be. */
    void hasRead() {
        if (looked) {
            return;
        }
        waits = true;
        try {
            look.await();
        } catch (InterruptedException e) {
            throw new Channel.CutShort("the process has ended");
        }
        looked = true;
        waits = false;
    }

    /** Whether it is yet to look; if it has not looked then, nobody leads, and it hands nothing over. */
    boolean isToLook() {
        return waits;
    }

    boolean hasLooked() {
        return looked;
    }

    /** It begins; when this returns it is to look, or hands over nothing. */
    void begin() throws Exception {
        start();
        Server.until("shutdown that begins", () -> waits || !isAlive());
    }

    /** It looks. */
    void look() throws Exception {
        look.countDown();
        Server.until("shutdown that looks", () -> looked);
    }

    /** When this returns it waits for nothing any more, and would leave the registry. */
    void end() throws Exception {
        Server.until("shutdown that has handed over", () -> !isAlive());
    }
}
