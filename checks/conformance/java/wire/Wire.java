package org.apache.pulsar.metadata.coordination.impl;

import fencepost.Folders;
import fencepost.Server;
import org.apache.zookeeper.CalledSocket;
import org.apache.zookeeper.server.CalledLink;
import org.apache.zookeeper.server.CalledServer;

/** What is between one client and the server: it can be cut, and answers can be held back. */
public interface Wire extends AutoCloseable {
    /** What a client takes for the address of the server. */
    String address();

    /** Nothing passes any more; answers that were held back are lost. */
    void cut();

    /** What is sent passes again, from new connections. */
    void mend() throws Exception;

    boolean isUp();

    /**
     * From now on answers are held back, with all that comes after them, until the wire is cut. Requests still pass, and so does
     * what the server tells before it answers.
     */
    void silence();

    /** From now on no request arrives, until the wire is cut. */
    void deafen();

    /** Whether a request has not arrived since then. */
    boolean hasMissed();

    /** How much it has carried to the client, breaks included; -2 if it does not count. */
    default long carried() {
        return -2;
    }

    /** A server that is called, or one with sockets and threads of its own if the JVM has the property {@code fencepost.sockets}. */
    static Server server() throws Exception {
        if (Boolean.getBoolean("fencepost.sockets")) {
            return new Server();
        }
        CalledSocket.use();
        return new Server(CalledServer.started(Folders.fresh("zookeeper")), 0);
    }

    /** A wire to a server, as the server is reached. */
    static Wire to(Server server) throws Exception {
        return server.zookeeper() instanceof CalledServer called ? new CalledWire(new CalledLink(called)) : new Link(server.port());
    }

    /** A wire that is no more than calls. */
    record CalledWire(CalledLink link) implements Wire {
        @Override
        public String address() {
            return link.address();
        }

        @Override
        public void cut() {
            link.cut();
        }

        @Override
        public void mend() {
            link.mend();
        }

        @Override
        public boolean isUp() {
            return link.isUp();
        }

        @Override
        public void silence() {
            link.silence();
        }

        @Override
        public void deafen() {
            link.deafen();
        }

        @Override
        public boolean hasMissed() {
            return link.hasMissed();
        }

        @Override
        public long carried() {
            return link.carried();
        }

        @Override
        public void close() {
            link.close();
        }
    }
}
