package org.apache.pulsar.metadata.coordination.impl;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceBundleSplitAlgorithm;
import org.apache.pulsar.common.naming.NamespaceBundles;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.policies.data.BundlesData;
import org.apache.pulsar.metadata.api.MetadataStoreException;

/**
 * The layout of the namespace as a broker has it, and what a split of its only bundle asks of it: to read it, and to change it.
 * Both wait for a step. It is split in two: one half is a unit, too, the other one fares by itself.
 */
final class Layout {
    static final String WHOLE = "0x00000000_0xffffffff";
    static final String HALF = "0x00000000_0x7fffffff";
    static final String OTHER_HALF = "0x7fffffff_0xffffffff";

    final Bundles bundles = Bare.of(Bundles.class);
    final Namespaces namespaces = Bare.of(Namespaces.class);
    private boolean split;
    /** Whether the halves have their records, so that the layout is read as soon as anybody wants to. */
    private boolean owned;
    private boolean lost;
    private CompletableFuture<NamespaceBundles> reading;
    private NamespaceName asked;
    private CompletableFuture<Void> changing;

    Layout() {
        bundles.layout = this;
        namespaces.layout = this;
    }

    static Map<String, Optional<String>> halves() {
        return Map.of(HALF, Optional.empty(), OTHER_HALF, Optional.empty());
    }

    boolean isReading() {
        return reading != null;
    }

    boolean isChanging() {
        return changing != null;
    }

    /** The halves have their records, or are about to. */
    void own() {
        owned = true;
        if (reading != null) {
            CompletableFuture<NamespaceBundles> now = reading;
            reading = null;
            now.complete(as(asked, split));
        }
    }

    /** The layout is changed, here and in the metadata store. */
    void change() {
        split = true;
        changed().complete(null);
    }

    /** The layout in the metadata store was changed by somebody else meanwhile. */
    void conflict() {
        changed().completeExceptionally(new MetadataStoreException.BadVersionException("changed meanwhile"));
    }

    /** The layout cannot be changed, now or as soon as that is tried. */
    void fail() {
        lost = changing == null;
        if (!lost) {
            changed().completeExceptionally(noConnection());
        }
    }

    /** The broker has heard of the change. */
    void learn() {
        split = true;
    }

    private CompletableFuture<Void> changed() {
        CompletableFuture<Void> now = changing;
        changing = null;
        owned = false;
        return now;
    }

    private static Exception noConnection() {
        return new MetadataStoreException("the session is lost");
    }

    private synchronized CompletableFuture<NamespaceBundles> read(NamespaceName namespace) {
        if (lost) {
            lost = false;
            owned = false;
            return CompletableFuture.failedFuture(noConnection());
        }
        if (owned) {
            return CompletableFuture.completedFuture(as(namespace, split));
        }
        asked = namespace;
        reading = new CompletableFuture<>();
        return reading;
    }

    private NamespaceBundles as(NamespaceName namespace, boolean inHalves) {
        List<String> cuts = inHalves ? List.of("0x00000000", "0x7fffffff", "0xffffffff") : List.of("0x00000000", "0xffffffff");
        return bundles.getBundles(namespace, BundlesData.builder().boundaries(cuts).numBundles(cuts.size() - 1).build());
    }

    static final class Namespaces extends NamespaceService {
        private Layout layout;

        private Namespaces() {
            super(null);
        }

        @Override
        public NamespaceBundleFactory getNamespaceBundleFactory() {
            return layout.bundles;
        }

        @Override
        public CompletableFuture<Pair<NamespaceBundles, List<NamespaceBundle>>> getSplitBoundary(
                NamespaceBundle bundle, NamespaceBundleSplitAlgorithm algorithm, List<Long> boundaries) {
            NamespaceBundles halves = layout.as(bundle.getNamespaceObject(), true);
            return CompletableFuture.completedFuture(Pair.of(halves, halves.getBundles()));
        }

        @Override
        public CompletableFuture<Void> updateNamespaceBundles(NamespaceName namespace, NamespaceBundles halves) {
            layout.changing = new CompletableFuture<>();
            return layout.changing;
        }

        @Override
        public CompletableFuture<Void> updateNamespaceBundlesForPolicies(NamespaceName namespace, NamespaceBundles halves) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void onNamespaceBundleOwned(NamespaceBundle bundle) {
        }

        @Override
        public void onNamespaceBundleUnload(NamespaceBundle bundle) {
        }

        @Override
        public void onNamespaceBundleSplit(NamespaceBundle bundle) {
        }
    }

    static final class Bundles extends NamespaceBundleFactory {
        private Layout layout;

        private Bundles() {
            super(null, null);
        }

        /** The bundle of a heartbeat, of which there is one. */
        @Override
        public CompletableFuture<NamespaceBundle> getFullBundleAsync(NamespaceName namespace) {
            return CompletableFuture.completedFuture(getBundle(namespace.toString(), WHOLE));
        }

        @Override
        public CompletableFuture<NamespaceBundles> getBundlesAsync(NamespaceName namespace) {
            return layout.read(namespace);
        }

        @Override
        public void invalidateBundleCache(NamespaceName namespace) {
        }
    }
}
