package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.BoundType;
import com.google.common.collect.Range;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.namespace.NamespaceEphemeralData;
import org.apache.pulsar.broker.namespace.OwnedBundle;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.broker.namespace.ServiceUnitUtils;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** A broker, as far as it owns bundles: its store, its locks, and its OwnershipCache. */
final class Owner extends Client {
    private static final NamespaceBundleFactory NO_FACTORY = factory();
    private static final long HASHES = 0xffffffffL;

    private final NamespaceName namespace;
    private final Map<String, NamespaceBundle> bundles = new LinkedHashMap<>();
    private LockManagerImpl<NamespaceEphemeralData> locks;
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
            return StubBroker.bare(NamespaceBundleFactory.class);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    void start() throws Exception {
        super.start();
        locks = new LockManagerImpl<>(store, NamespaceEphemeralData.class, executor);
        topics = StubBroker.Topics.none();
        var only = Proxy.newProxyInstance(Owner.class.getClassLoader(), new Class<?>[] {CoordinationService.class},
                (proxy, method, arguments) -> locks);
        cache = StubBroker.cache(name, (CoordinationService) only, topics);
    }

    String path(String bundle) {
        return ServiceUnitUtils.path(bundles.get(bundle));
    }

    /** A lookup has led here: if the node says that the bundle is this broker's, by asking whose it is. */
    void own(String bundle) throws Exception {
        Server.Node node = server.node(path(bundle));
        if (node != null && reaches() && node.owner() == session) {
            cache.getOwnerAsync(bundles.get(bundle));
        } else {
            cache.tryAcquiringOwnership(bundles.get(bundle));
        }
    }

    void lookUp(String bundle) {
        cache.getOwnerAsync(bundles.get(bundle));
    }

    /** Unloads the bundle; returns why it does not. */
    String unload(String bundle) throws Exception {
        CompletableFuture<OwnedBundle> owned = cache.getOwnedBundlesAsync().get(bundles.get(bundle));
        if (owned == null || !owned.isDone()) {
            return name + " does not own " + bundle;
        }
        CompletableFuture<Void> unloaded = owned.get().handleUnloadRequest(pulsar(), 1, TimeUnit.MINUTES);
        // it goes on by itself; only a refusal is known at once
        return unloaded.isCompletedExceptionally() ? cause(unloaded) : null;
    }

    private static String cause(CompletableFuture<?> failed) throws InterruptedException {
        try {
            failed.get();
            return null;
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

    /** Lets a request of that kind go, the newest or the oldest; false if there is none. */
    boolean let(String bundle, String kind, boolean newest) throws Exception {
        Held held = held(bundle, kind, newest);
        if (held == null) {
            return false;
        }
        Set<Held> before = Set.copyOf(store.requests());
        boolean served = locked(path(bundle)) != null;
        store.send(held);
        if (served) {
            lookAgain(before);
        }
        return true;
    }

    /** Lets the first of two requests of that kind go; false if there are not two. */
    boolean letSecond(String bundle, String kind) throws Exception {
        return held(bundle, kind, false) != held(bundle, kind, true) && let(bundle, kind, false);
    }

    /** A request of that kind takes effect, and the connection breaks before it is answered. */
    boolean letUnheard(String bundle, String kind) throws Exception {
        Held held = held(bundle, kind, true);
        if (held == null) {
            return false;
        }
        String path = path(bundle);
        boolean deletes = !kind.equals(BundleRequests.CREATE);
        // the server tells who watches of the deletion before it answers
        unheard(held, () -> deletes ? server.node(path) == null && store.hasNews(path) : server.node(path) != null);
        return true;
    }

    /** A request of that kind is answered with: the session is gone. */
    boolean fail(String bundle, String kind) throws Exception {
        Held held = held(bundle, kind, true);
        if (held == null) {
            return false;
        }
        store.fail(held);
        return true;
    }

    private Held held(String bundle, String kind, boolean newest) {
        List<Held> meant = store.requests().stream()
                .filter(each -> each.kind().equals(kind) && each.path().equals(path(bundle))).toList();
        return meant.isEmpty() ? null : meant.get(newest ? meant.size() - 1 : 0);
    }

    /**
     * A revalidation that was asked for while another was under way follows it, and finds what that left: it is not held.
     */
    private void lookAgain(Set<Held> before) throws Exception {
        settle();
        for (Held held : store.requests()) {
            if (held.kind().equals(BundleRequests.READ) && !before.contains(held)) {
                store.send(held);
                settle();
            }
        }
    }

    /** The broker hears that a node was deleted; false if there is no such news. */
    boolean hear(String bundle) throws Exception {
        if (!store.hasNews(path(bundle))) {
            return false;
        }
        store.hear(path(bundle));
        return true;
    }

    void slow(boolean now) {
        topics.slow(now);
    }

    /** The topics of what was unloaded first are closed; false if none were left to close. */
    boolean close() {
        return topics.closed();
    }

    /** Lets go what is not held: reads of the cache. Whether there was any. */
    @Override
    boolean pass() throws Exception {
        boolean any = false;
        for (Held held : reaches() ? store.requests() : List.<Held>of()) {
            if (held.kind().equals(BundleRequests.CACHE)) {
                store.send(held);
                any = true;
            }
        }
        return any;
    }

    private Object locked(String path) throws Exception {
        return ((Map<?, ?>) HeldStore.field(locks, "locks")).get(path);
    }

    @Override
    void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (!lives()) {
            return;
        }
        ObjectNode each = told.putObject("bundles");
        for (String bundle : bundles.keySet()) {
            tell(bundle, each.putObject(bundle));
        }
    }

    private void tell(String bundle, ObjectNode told) throws Exception {
        String path = path(bundle);
        told.put("deletion", store.hasNews(path));
        Object lock = locked(path);
        told.put("state", lock == null ? "none" : HeldStore.field(lock, "state").toString());
        if (lock != null) {
            told.put("again", (boolean) HeldStore.field(lock, "revalidateAfterReconnection"));
            told.put("version", (long) HeldStore.field(lock, "version"));
        }
        CompletableFuture<OwnedBundle> owned = cache.getOwnedBundlesAsync().get(bundles.get(bundle));
        boolean absent = owned == null || !owned.isDone();
        told.put("serves", absent ? "absent" : owned.get().isActive() ? "active" : "inactive");
        @SuppressWarnings("unchecked")
        var known = (org.apache.pulsar.metadata.api.MetadataCache<NamespaceEphemeralData>) HeldStore.field(locks, "cache");
        told.put("cached", known.getIfCached(path).map(of -> StubBroker.named(of.getNativeUrl())).orElse("nobody"));
        var names = new TreeSet<String>();
        for (Held held : store.requests()) {
            if (held.path().equals(path) && !names.add(held.kind())) {
                names.add("another-" + held.kind());
            }
        }
        var requests = told.putArray("requests");
        names.forEach(requests::add);
    }
}
