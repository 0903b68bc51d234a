package org.apache.pulsar.metadata.coordination.impl;

import java.util.Optional;
import org.apache.pulsar.metadata.api.Notification;
import org.apache.pulsar.metadata.api.NotificationType;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** The requests for the nodes that clients fight for, all whose path begins so, and for the one that lasts. */
final class StoreRequests implements HeldStore.Concern {
    /** The node that outlives all runs. */
    static final String LASTING = "/lasting";
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
        return path.startsWith(prefix) || path.equals(LASTING);
    }

    @Override
    public boolean isNews(Notification notification) {
        boolean lasts = notification.getPath().equals(LASTING);
        return notification.getType() == (lasts ? NotificationType.Modified : NotificationType.Deleted);
    }

    @Override
    public String kind(MetadataOp op) {
        switch (op.getType()) {
            case PUT:
                return op.asPut().getOptExpectedVersion().equals(Optional.of(-1L)) ? CREATE : WRITE;
            case DELETE:
                return DELETE;
            case GET:
                return READ;
            default:
                throw new IllegalStateException("no request of a client: " + op.getType());
        }
    }
}
