package org.apache.pulsar.metadata.coordination.impl;

import com.google.common.hash.Hashing;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.common.naming.ConsistentHashingTopicBundleAssigner;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceBundleSplitAlgorithm;
import org.apache.pulsar.common.naming.NamespaceBundles;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.naming.TopicName;
import org.apache.pulsar.common.policies.data.BundlesData;
import org.apache.pulsar.metadata.api.MetadataStoreException;

/**
 * The layout of the namespace as a broker has it, and what a split of its only bundle asks of it: to read it, and to change it.
 * Both wait for a step. It is split in two: one half is a unit, too, the other one fares by itself.
 *
 * <p>Which bundle a topic is of, and whether the broker serves it, is answered at once (NamespaceService.getBundleAsync,
 * checkBundleOwnership): the one by the layout as the broker has it, the other by the channel.
 */
final class Layout {
    static final String WHOLE = "0x00000000_0xffffffff";
    static final String HALF = "0x00000000_0x7fffffff";
    static final String OTHER_HALF = "0x7fffffff_0xffffffff";
    private static final long HASHES = 0xffffffffL;

    final Bundles bundles = Bare.of(Bundles.class);
    final Namespaces namespaces = Bare.of(Namespaces.class);
    private final Predicate<NamespaceBundle> owned;
    /** How many bundles there are, all of one size. */
    private int size;
    /** Whether the halves have their records, so that the layout is read as soon as anybody wants to. */
    private boolean halvesOwned;
    private boolean lost;
    private CompletableFuture<NamespaceBundles> reading;
    private NamespaceName asked;
    private CompletableFuture<Void> changing;
    private NamespaceBundles known;

    Layout(int size, Predicate<NamespaceBundle> owned) {
        this.size = size;
        this.owned = owned;
        Bare.set(NamespaceBundleFactory.class, bundles, "hashFunc", Hashing.crc32());
        Bare.set(NamespaceBundleFactory.class, bundles, "topicBundleAssignmentStrategy", new ConsistentHashingTopicBundleAssigner());
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
        halvesOwned = true;
        if (reading != null) {
            CompletableFuture<NamespaceBundles> now = reading;
            reading = null;
            now.complete(in(asked, size));
        }
    }

    /** The layout is changed, here and in the metadata store. */
    void change() {
        size = 2;
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
        size = 2;
    }

    private CompletableFuture<Void> changed() {
        CompletableFuture<Void> now = changing;
        changing = null;
        halvesOwned = false;
        return now;
    }

    private static Exception noConnection() {
        return new MetadataStoreException("the session is lost");
    }

    private synchronized CompletableFuture<NamespaceBundles> read(NamespaceName namespace) {
        if (lost) {
            lost = false;
            halvesOwned = false;
            return CompletableFuture.failedFuture(noConnection());
        }
        if (halvesOwned) {
            return CompletableFuture.completedFuture(in(namespace, size));
        }
        asked = namespace;
        reading = new CompletableFuture<>();
        return reading;
    }

    private NamespaceBundles in(NamespaceName namespace, int parts) {
        List<String> cuts = IntStream.rangeClosed(0, parts).mapToObj(each -> cut(each, parts)).toList();
        return bundles.getBundles(namespace, BundlesData.builder().boundaries(cuts).numBundles(parts).build());
    }

    /** Where the hashes are cut into so many parts. */
    static String cut(int place, int parts) {
        return String.format("0x%08x", HASHES * place / parts);
    }

    /** The bundle that a topic is of. */
    NamespaceBundle bundle(TopicName topic) {
        if (known == null || known.size() != size) {
            known = in(topic.getNamespaceObject(), size);
        }
        return known.findBundle(topic);
    }

    /** A topic of a unit; the topic of the unit that is split is that of its half. */
    TopicName topic(NamespaceBundle unit) {
        NamespaceBundle in = unit.getBundleRange().equals(WHOLE) ? bundles.getBundle(unit.getNamespaceObject().toString(), HALF) : unit;
        return IntStream.iterate(0, each -> each + 1).mapToObj(each -> TopicName.get("persistent", unit.getNamespaceObject(), "t" + each))
                .filter(in::includes).findFirst().orElseThrow();
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
            NamespaceBundles halves = layout.in(bundle.getNamespaceObject(), 2);
            return CompletableFuture.completedFuture(Pair.of(halves, halves.getBundles()));
        }

        @Override
        public CompletableFuture<NamespaceBundle> getBundleAsync(TopicName topic) {
            return CompletableFuture.completedFuture(layout.bundle(topic));
        }

        @Override
        public CompletableFuture<Boolean> checkBundleOwnership(TopicName topic, NamespaceBundle bundle) {
            return CompletableFuture.completedFuture(layout.owned.test(bundle));
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
