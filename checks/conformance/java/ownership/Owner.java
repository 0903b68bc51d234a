package org.apache.pulsar.metadata.coordination.impl;

import com.google.common.collect.BoundType;
import com.google.common.collect.Range;
import fencepost.Refused;
import fencepost.Server;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.namespace.NamespaceEphemeralData;
import org.apache.pulsar.broker.namespace.OwnedBundle;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;

/** A broker with its store, its locks, and its OwnershipCache, and nothing else. */
final class Owner extends Owning {
    private static final NamespaceBundleFactory NO_FACTORY = factory();
    private static final long HASHES = 0xffffffffL;

    private final NamespaceName namespace;
    private final Map<String, NamespaceBundle> bundles = new LinkedHashMap<>();
    private OwnershipCache cache;
    private StubBroker.Topics topics;

    /** The bundles share the range of hashes of a namespace. */
    Owner(String name, Server server, String namespace, List<String> bundles) {
        super(name, server, new BundleRequests("/namespace/" + namespace));
        this.namespace = NamespaceName.get(namespace);
        for (int i = 0; i < bundles.size(); i++) {
            Range<Long> hashes = Range.range(HASHES * i / bundles.size(), BoundType.CLOSED,
                    HASHES * (i + 1) / bundles.size(), i + 1 == bundles.size() ? BoundType.CLOSED : BoundType.OPEN);
            this.bundles.put(bundles.get(i), new NamespaceBundle(this.namespace, hashes, NO_FACTORY));
        }
    }

    private static NamespaceBundleFactory factory() {
        try {
            return Bare.of(NamespaceBundleFactory.class);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    void start() throws Exception {
        super.start();
        var locks = new LockManagerImpl<>(store, NamespaceEphemeralData.class, executor);
        topics = StubBroker.Topics.none();
        var only = Proxy.newProxyInstance(Owner.class.getClassLoader(), new Class<?>[] {CoordinationService.class},
                (proxy, method, arguments) -> locks);
        cache = StubBroker.cache(name, (CoordinationService) only, topics);
    }

    @Override
    OwnershipCache cache() {
        return cache;
    }

    @Override
    NamespaceBundle bundle(String name) {
        return bundles.get(name);
    }

    @Override
    Collection<String> bundles() {
        return bundles.keySet();
    }

    void lookUp(String bundle) {
        cache.getOwnerAsync(bundles.get(bundle));
    }

    /** Unloads the bundle. */
    void unload(String bundle) throws Exception {
        CompletableFuture<OwnedBundle> owned = cache.getOwnedBundlesAsync().get(bundles.get(bundle));
        if (owned == null || !owned.isDone()) {
            throw new Refused(name + " does not own " + bundle);
        }
        CompletableFuture<Void> unloaded = owned.get().handleUnloadRequest(pulsar(), 1, TimeUnit.MINUTES);
        // it goes on by itself; only a refusal is known at once
        if (unloaded.isCompletedExceptionally()) {
            throw new Refused(cause(unloaded));
        }
    }

    private static String cause(CompletableFuture<?> failed) throws InterruptedException {
        try {
            failed.get();
            throw new IllegalStateException("it has not failed");
        } catch (ExecutionException e) {
            return e.getCause().toString();
        }
    }

    private org.apache.pulsar.broker.PulsarService pulsar() throws Exception {
        return (org.apache.pulsar.broker.PulsarService) HeldStore.field(cache, "pulsar");
    }

    void remove(String bundle) {
        cache.removeOwnership(bundles.get(bundle));
    }

    /** The broker writes that it will give the bundle up. */
    @SuppressWarnings("deprecation")
    boolean disable(String bundle) throws Exception {
        cache.disableOwnership(bundles.get(bundle));
        return let(bundle, BundleRequests.CREATE, false);
    }

    /** Lets the first of two requests of that kind go; false if there are not two. */
    boolean letSecond(String bundle, String kind) throws Exception {
        String path = path(bundle);
        return held(path, kind, false) != held(path, kind, true) && let(bundle, kind, false);
    }

    void slow(boolean now) {
        topics.slow(now);
    }

    /** The topics of what was unloaded first are closed; false if none were left to close. */
    boolean close() {
        return topics.closed();
    }
}
