package org.apache.bookkeeper.client;

import fencepost.Gate;
import fencepost.Server;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.meta.ZkLedgerUnderreplicationManager;
import org.apache.bookkeeper.replication.HeldWorker;
import org.apache.bookkeeper.replication.ReplicationException;
import org.apache.bookkeeper.zookeeper.ZooKeeperClient;
import org.apache.zookeeper.ZooKeeper;

/** A worker of auto-recovery, with a session, an under-replication manager, a client and a thread of its own. */
final class Member {
    private static final Set<Thread.State> BLOCKED = Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

    final Gate gate = new Gate();
    final RecoveringClient client;
    final HeldWorker worker;
    final ZooKeeperClient session;
    private final LedgerBench bench;
    private volatile Thread thread;
    /** Whether a bookie has been chosen since the last check. */
    boolean chosen;

    Member(String name, LedgerBench bench, ServerConfiguration conf, String connection) throws Exception {
        this.bench = bench;
        session = ZooKeeperClient.newBuilder().connectString(connection).sessionTimeoutMs(Server.SESSION_MILLIS).build();
        client = new RecoveringClient(name, bench, gate, held(new ZkLedgerUnderreplicationManager(conf, session)));
        bench.clients.put(name, client);
        worker = new HeldWorker(conf, client, gate);
        worker.start();
    }

    /** The manager, whose tasks are taken and ended when a step says so. */
    private LedgerUnderreplicationManager held(LedgerUnderreplicationManager real) {
        return (LedgerUnderreplicationManager) Proxy.newProxyInstance(Member.class.getClassLoader(),
                new Class<?>[] {LedgerUnderreplicationManager.class}, (proxy, method, arguments) -> {
                    try {
                        if (method.getName().equals("getLedgerToRereplicate")) {
                            thread = Thread.currentThread();
                            gate.pass("take");
                        } else if (method.getName().equals("markLedgerReplicated")) {
                            gate.pass("mark");
                        }
                        return method.invoke(real, arguments);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new ReplicationException.UnavailableException("interrupted", e);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Its requests to bookies that are not answered. */
    List<HeldRequest> requests() {
        List<HeldRequest> mine = new ArrayList<>();
        for (HeldRequest request : bench.requests) {
            if (request.owner == client && !request.answered) {
                mine.add(request);
            }
        }
        return mine;
    }

    HeldMetadata.Operation operation() {
        return bench.metadata.next(client);
    }

    /**
     * What it waits for: a gate, the store, the answers of a check, the copies of entries, or, before it chooses, the entries that it
     * could not read the last time; empty while it goes on.
     */
    String waitsFor() {
        String at = gate.at();
        if (at != null) {
            return at.equals("choose") ? "choose " + client.replaced : at;
        }
        boolean blocked = thread != null && BLOCKED.contains(thread.getState());
        if (blocked && operation() != null) {
            return operation().kind.equals("write") ? "publish" : operation().kind;
        }
        if (!blocked || requests().isEmpty()) {
            return "";
        }
        boolean checks = requests().get(0).callback.getClass().getName().startsWith(LedgerChecker.class.getName());
        return checks ? "answers" : chosen ? "copy" : "reread";
    }

    /** Where its thread is. */
    String place() {
        return thread == null ? "no line" : thread.getState() + " " + List.of(thread.getStackTrace());
    }

    /** The session expires, and the client has another. */
    void expire(Server server) throws Exception {
        long before = session.getSessionId();
        server.expire(before);
        Server.until("new session", () -> session.getSessionId() != before && session.getState() == ZooKeeper.States.CONNECTED);
    }

    void close() throws Exception {
        worker.shutdown();
        session.close();
    }
}
