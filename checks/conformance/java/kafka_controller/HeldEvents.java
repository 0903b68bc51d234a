package org.I0Itec.zkclient;

import java.util.ArrayDeque;
import java.util.Deque;

/** The events that a client would hand to its listeners, held until a line lets one go. It never runs as a thread. */
public final class HeldEvents extends ZkEventThread {
    private final Deque<ZkEvent> ofNode = new ArrayDeque<>();
    private final Deque<ZkEvent> ofSessions = new ArrayDeque<>();

    HeldEvents() {
        super("held");
    }

    /** Several events of a node count as one: whoever handles it looks at the node as it is by then. */
    @Override
    public synchronized void send(ZkEvent event) {
        if (event.toString().contains("New session event")) {
            ofSessions.add(event);
        } else if (event.toString().contains("Data of") && ofNode.isEmpty()) {
            ofNode.add(event);
        }
    }

    public synchronized boolean hasNews() {
        return !ofNode.isEmpty();
    }

    public synchronized int sessions() {
        return ofSessions.size();
    }

    /** Takes what a listener hears of the node, or of a new session; null if there is nothing. */
    public synchronized Heard take(boolean session) {
        ZkEvent event = (session ? ofSessions : ofNode).poll();
        return event == null ? null : event::run;
    }

    /** What a listener does as it hears of something. */
    public interface Heard {
        void run() throws Exception;
    }
}
