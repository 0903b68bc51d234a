package org.apache.pulsar.metadata.coordination.impl;

import com.google.common.collect.BoundType;
import com.google.common.collect.Range;
import com.google.common.hash.Hashing;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Refused;
import fencepost.Server;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.pulsar.broker.namespace.NamespaceEphemeralData;
import org.apache.pulsar.broker.namespace.OwnedBundle;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.naming.TopicName;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** A broker with its store, its locks, and its OwnershipCache, and nothing else. */
final class Owner extends Owning {
    private static final NamespaceBundleFactory NO_FACTORY = factory();
    private static final long HASHES = 0xffffffffL;

    private final NamespaceName namespace;
    private final Map<String, NamespaceBundle> bundles = new LinkedHashMap<>();
    private OwnershipCache cache;
    private StubBroker.Topics topics;
    /** Null where the metadata are never migrated. */
    private final Migration migration;
    private Participant participant;
    /** The sessions of processes that are over with what the metadata were migrated to. */
    private final List<Long> formerInTarget = new ArrayList<>();

    /** The bundles share the range of hashes of a namespace. */
    Owner(String name, Server server, String namespace, List<String> bundles, Migration migration) {
        super(name, server, concern(namespace, migration));
        this.migration = migration;
        this.namespace = NamespaceName.get(namespace);
        for (int i = 0; i < bundles.size(); i++) {
            Range<Long> hashes = Range.range(HASHES * i / bundles.size(), BoundType.CLOSED,
                    HASHES * (i + 1) / bundles.size(), i + 1 == bundles.size() ? BoundType.CLOSED : BoundType.OPEN);
            this.bundles.put(bundles.get(i), new NamespaceBundle(this.namespace, hashes, NO_FACTORY));
        }
    }

    private static HeldStore.Concern concern(String namespace, Migration migration) {
        var bundles = new BundleRequests("/namespace/" + namespace);
        return migration == null ? bundles : Participant.held(bundles);
    }

    private static NamespaceBundleFactory factory() {
        try {
            NamespaceBundleFactory factory = Bare.of(NamespaceBundleFactory.class);
            Bare.set(NamespaceBundleFactory.class, factory, "hashFunc", Hashing.crc32());
            return factory;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    void start() throws Exception {
        if (participant != null) {
            formerInTarget.add(participant.session());
        }
        super.start();
        MetadataStoreExtended all = migration == null ? store : participating();
        var locks = new LockManagerImpl<>(all, NamespaceEphemeralData.class, executor);
        topics = StubBroker.Topics.none();
        var only = Proxy.newProxyInstance(Owner.class.getClassLoader(), new Class<?>[] {CoordinationService.class},
                (proxy, method, arguments) -> locks);
        cache = StubBroker.cache(name, (CoordinationService) only, topics, all, executor);
    }

    private MetadataStoreExtended participating() throws Exception {
        participant = new Participant(migration, store);
        if (migration.isComplete()) {
            store = participant.target;
        }
        return participant.dual;
    }

    @Override
    Server server() {
        return migration == null ? server : migration.current();
    }

    @Override
    long session() {
        return migration != null && migration.isComplete() ? participant.session() : session;
    }

    @Override
    void die() throws Exception {
        if (participant != null) {
            participant.die(store);
            if (!migration.isComplete()) {
                // in the model nothing of it is left in the target until the migration is over
                migration.target.expire(participant.session());
            }
        }
        super.die();
    }

    @Override
    void expire() throws Exception {
        super.expire();
        if (participant != null) {
            migration.target.expire(participant.session());
        }
    }

    @Override
    void expireFormer() throws Exception {
        super.expireFormer();
        for (long each : formerInTarget) {
            migration.target.expire(each);
        }
        formerInTarget.clear();
    }

    /** What was out in the source as the target took its place is answered by the source yet. */
    @Override
    List<Held> requests() {
        List<Held> all = new ArrayList<>(isSwitched() ? participant.source.requests() : List.of());
        all.addAll(super.requests());
        return all;
    }

    @Override
    HeldStore holding(Held held) {
        return isSwitched() && participant.source.requests().contains(held) ? participant.source : store;
    }

    /** What is migrated goes over two links. */
    @Override
    boolean rests() {
        return migration == null && super.rests();
    }

    @Override
    boolean moved() throws Exception {
        return super.moved() | (isSwitched() && participant.source.moved(reaches()));
    }

    private boolean isSwitched() {
        return participant != null && store != participant.source;
    }

    /** Whether a read that is out in the source finds otherwise than one in the target would. */
    private boolean readsOtherwise(String bundle) throws Exception {
        String path = path(bundle);
        if (participant.source.requests().stream().noneMatch(each -> each.path().equals(path))) {
            return false;
        }
        Server.Node old = migration.source.node(path);
        Server.Node now = migration.target.node(path);
        if (old == null || now == null) {
            return old != now;
        }
        boolean same = old.value().equals(now.value()) && old.version() == now.version();
        return !same || (old.owner() == session) != (now.owner() == participant.session());
    }

    /** Hears that the preparation of a migration has begun. */
    void hearOfMigration() throws Exception {
        participant.hear();
    }

    boolean hasNewsOfMigration() {
        return participant.hasNews();
    }

    /** Prepares itself for the migration. */
    void prepare() throws Exception {
        participant.prepare();
    }

    /** Uses what the metadata were migrated to. */
    void migrate() throws Exception {
        participant.act();
        store = participant.target;
        store.dropNews(); // nobody listened
    }

    boolean isReadOnly() throws Exception {
        return migration != null && lives() && participant.isReadOnly();
    }

    @Override
    void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (migration != null) {
            told.put("read_only", isReadOnly());
            told.put("told", lives() && hasNewsOfMigration());
            told.put("prepared", lives() && participant.isPrepared(migration.source));
            for (String bundle : lives() && isSwitched() ? bundles() : List.<String>of()) {
                ObjectNode of = (ObjectNode) told.get("bundles").get(bundle);
                boolean unheard = participant.source.hasNews(path(bundle));
                of.put("deletion_in_source", unheard);
                of.put("reads_otherwise", readsOtherwise(bundle));
                of.put("deletion", unheard || of.get("deletion").asBoolean());
            }
        }
    }

    /** Whether that is the session of the broker's process with what the metadata are migrated to. */
    boolean hasInTarget(long session) {
        return participant != null && participant.session() == session;
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
        // it goes on by itself; only a refusal is known at once, which may be the store's
        if (unloaded.isCompletedExceptionally() && !isReadOnly()) {
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

    /** A topic of the bundle has met the fence of the next owner, since 5.0.1 (ManagedLedgerImpl.fenceByAnotherWriter). */
    void meetFence(String bundle) throws Exception {
        NamespaceBundle of = bundles.get(bundle);
        TopicName topic = Stream.iterate(0, i -> i + 1)
                .map(i -> TopicName.get("persistent://" + namespace + "/t" + i)).filter(of::includes).findFirst().orElseThrow();
        var takenOver = OwnershipCache.class.getDeclaredMethod("handleOwnershipTakenOver", TopicName.class);
        takenOver.setAccessible(true);
        takenOver.invoke(cache, topic);
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
