package org.apache.zookeeper.server;

import java.io.File;

/**
 * ZooKeeper's server without its sockets, its log and the threads of its requests: a request is prepared and carried out by the
 * thread that brings it, one at a time, and answered before the call returns. Sessions, nodes, watches and answers are the
 * server's own.
 */
public final class CalledServer extends ZooKeeperServer {
    private static final int TICK_MILLIS = 2000;

    private CalledServer(File folder) throws Exception {
        super(folder, folder, TICK_MILLIS);
    }

    /** A server that is ready for calls, without nodes. */
    public static CalledServer started(File folder) throws Exception {
        CalledServer server = new CalledServer(folder);
        server.setMaxSessionTimeout(fencepost.Server.SESSION_MILLIS);
        server.startdata();
        server.startup();
        return server;
    }

    @Override
    protected void setupRequestProcessors() {
        firstProcessor = new Preparation(this, new FinalRequestProcessor(this));
    }

    @Override
    protected void startRequestThrottler() {
        // nothing waits, so nothing is throttled
    }

    @Override
    public void enqueueRequest(Request request) {
        synchronized (firstProcessor) {
            submitRequestNow(request);
        }
    }

    /** The first of ZooKeeper's processors, without its thread; what is between it and the last writes the log. */
    private static final class Preparation extends PrepRequestProcessor {
        Preparation(ZooKeeperServer server, RequestProcessor next) {
            super(server, next);
        }

        @Override
        public void processRequest(Request request) {
            try {
                pRequest(request);
            } catch (RequestProcessorException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
