package org.apache.pulsar.metadata.coordination.impl;

import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** The requests for the owner nodes of bundles. */
final class BundleRequests implements HeldStore.Concern {
    /** A read of the cache, for a lookup. */
    static final String CACHE = "cache";
    /** The read of a revalidation. */
    static final String READ = "read";
    static final String CREATE = "create";
    /** The deletion of what a former session left. */
    static final String RETAKE = "retake";
    static final String RELEASE = "release";

    private final String folder;

    BundleRequests(String folder) {
        this.folder = folder + "/";
    }

    @Override
    public boolean with(String path) {
        return path.startsWith(folder);
    }

    @Override
    public String kind(MetadataOp op) {
        switch (op.getType()) {
            case PUT:
                return CREATE;
            case DELETE:
                return HeldStore.calledFrom("ResourceLockImpl", "release") ? RELEASE : RETAKE;
            case GET:
                return HeldStore.calledFrom("ResourceLockImpl", "evalidate") ? READ : CACHE;
            default:
                throw new IllegalStateException("no request of a lock: " + op.getType());
        }
    }
}
