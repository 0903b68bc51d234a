package org.apache.pulsar.metadata.coordination.impl;

import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** The requests of an election: those for the leader's node. */
final class Requests implements HeldStore.Concern {
    /** The read with which an election begins. */
    static final String LOOK = "look";
    /** The read of an election that a session event begins, one after the other. */
    static final String LOOK_AFTER_EVENT = "look-after-event";
    /** A read of the cache. */
    static final String CACHE = "confirm";
    static final String CREATE = "create";
    static final String DELETE = "delete";
    /** The read of the node by a leader that closes its election, since 5.0.1. */
    static final String LOOK_AT_CLOSE = "look-at-close";
    /** The deletion of the node by a leader that closes its election. */
    static final String GIVE_BACK = "give-back";

    private final String node;

    Requests(String node) {
        this.node = node;
    }

    /** The name of a request as Fencepost reads it. */
    static String shown(String kind) {
        return kind.equals(LOOK_AFTER_EVENT) ? LOOK : kind;
    }

    @Override
    public boolean with(String path) {
        return path.equals(node);
    }

    @Override
    public String kind(MetadataOp op) {
        switch (op.getType()) {
            case PUT:
                return CREATE;
            case DELETE:
                return HeldStore.calledFrom("LeaderElectionImpl", "asyncClose") ? GIVE_BACK : DELETE;
            case GET:
                if (HeldStore.calledFrom("MetadataCacheImpl", "")) {
                    return CACHE;
                }
                if (HeldStore.calledFrom("LeaderElectionImpl", "asyncClose")) {
                    return LOOK_AT_CLOSE;
                }
                return HeldStore.calledFrom("LeaderElectionImpl", "handleSessionNotification") ? LOOK_AFTER_EVENT : LOOK;
            default:
                throw new IllegalStateException("no request of an election: " + op.getType());
        }
    }
}
