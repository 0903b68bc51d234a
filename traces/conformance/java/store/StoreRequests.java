package org.apache.pulsar.metadata.coordination.impl;

import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** The requests for the nodes that clients fight for: all whose path begins so. */
final class StoreRequests implements HeldStore.Concern {
    static final String CREATE = "create";
    static final String WRITE = "write";
    static final String READ = "read";
    static final String DELETE = "delete";

    private final String prefix;

    StoreRequests(String prefix) {
        this.prefix = prefix;
    }

    @Override
    public boolean with(String path) {
        return path.startsWith(prefix);
    }

    @Override
    public String kind(MetadataOp op) {
        switch (op.getType()) {
            case PUT:
                return op.asPut().getOptExpectedVersion().equals(java.util.Optional.of(-1L)) ? CREATE : WRITE;
            case DELETE:
                return DELETE;
            case GET:
                return READ;
            default:
                throw new IllegalStateException("no request of a client: " + op.getType());
        }
    }
}
