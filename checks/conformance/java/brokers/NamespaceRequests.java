package org.apache.pulsar.metadata.coordination.impl;

import org.apache.pulsar.metadata.api.Notification;
import org.apache.pulsar.metadata.api.NotificationType;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** The requests for a namespace: those of the locks on its bundles, and those for its layout and for its policies. */
final class NamespaceRequests implements HeldStore.Concern {
    /** The write of the layout. */
    static final String LAYOUT = "layout";
    /** The write of the policies. */
    static final String POLICIES = "policies";

    private volatile BundleRequests locks;
    private volatile String layout;
    private volatile String policies;

    /** From now on it is this namespace whose requests are held; none are if it is null. */
    void of(String namespace) {
        if (namespace == null) {
            locks = null;
            return;
        }
        layout = "/admin/local-policies/" + namespace;
        policies = "/admin/policies/" + namespace;
        locks = new BundleRequests("/namespace/" + namespace);
    }

    String layout() {
        return layout;
    }

    String policies() {
        return policies;
    }

    @Override
    public boolean with(String path) {
        return locks != null && (path.equals(layout) || path.equals(policies) || locks.with(path));
    }

    @Override
    public boolean isNews(Notification notification) {
        return notification.getPath().equals(layout) || notification.getType() == NotificationType.Deleted;
    }

    @Override
    public String kind(MetadataOp op) {
        if (locks.with(op.getPath())) {
            return locks.kind(op);
        }
        boolean writes = op.getType() == MetadataOp.Type.PUT;
        return !writes ? BundleRequests.CACHE : op.getPath().equals(layout) ? LAYOUT : POLICIES;
    }
}
