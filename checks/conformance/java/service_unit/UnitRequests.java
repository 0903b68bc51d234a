package org.apache.pulsar.metadata.coordination.impl;

import org.apache.pulsar.metadata.api.Notification;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** The requests for the nodes of service units: the writes, and the reads by which a broker learns of one. */
final class UnitRequests implements HeldStore.Concern {
    static final String READ = "read";
    static final String PUT = "put";
    static final String DELETE = "delete";

    private final String folder;
    private final String apart;

    /** Those of the nodes in a folder, except for one that is handled by itself. */
    UnitRequests(String folder, String apart) {
        this.folder = folder + "/0x";
        this.apart = folder + "/" + apart;
    }

    @Override
    public boolean with(String path) {
        return path.startsWith(folder) && !path.equals(apart);
    }

    @Override
    public boolean isNews(Notification notification) {
        return true;
    }

    /** What is read in order to write, or when all nodes are read, is not held: it belongs to the step that is taken. */
    @Override
    public String kind(MetadataOp op) {
        switch (op.getType()) {
            case PUT:
                return PUT;
            case DELETE:
                return DELETE;
            case GET:
                if (HeldStore.calledFrom("MetadataCacheImpl", "refresh")) {
                    return READ;
                }
                boolean ofStep = HeldStore.calledFrom("MetadataCacheImpl", "readModifyUpdateOrCreate")
                        || HeldStore.calledFrom("MetadataStoreTableViewImpl", "handleExisting");
                return ofStep ? null : READ;
            default:
                return null;
        }
    }
}
