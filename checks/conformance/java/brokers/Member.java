package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Refused;
import fencepost.Server;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceBundleSplitAlgorithm;
import org.apache.pulsar.common.naming.NamespaceBundles;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;
import org.apache.pulsar.metadata.impl.batching.OpPut;

/** A broker of a cluster: its NamespaceService with all that is behind that. */
final class Member extends Owning {
    private final NamespaceRequests requests;
    private final boolean whole;
    private NamespaceName namespace;
    private Map<String, long[]> ends;
    private PulsarService service;
    private HeldWork work;
    /** None of a whole broker. */
    private HeldTopics topics;
    private CompletableFuture<Void> split;
    /** Where a split cuts that does not cut by the algorithm. */
    private long boundary;
    /** The bundle that the split is of, as its latest attempt has it. */
    private String parent;
    /** How many attempts the split has made. */
    private int attempts;

    /** A broker of which everything runs, or only what the protocols speak of. */
    Member(String name, Server server, NamespaceRequests requests, boolean whole) {
        super(name, server, requests);
        this.requests = requests;
        this.whole = whole;
    }

    /** A run begins, in a namespace; {@code ends} are the bundles that there can be, by name, with their boundaries. */
    void enter(String namespace, Map<String, long[]> ends) {
        this.namespace = NamespaceName.get(namespace);
        this.ends = ends;
        split = null;
    }

    @Override
    void start() throws Exception {
        super.start();
        work = HeldWork.none();
        split = null;
        if (whole) {
            service = new WholeService("127.0.0.1:" + server.port(), store, executor, work);
            service.start();
            threads.add(Probe.of((ExecutorService) HeldStore.field(locks(), "executor"))); // of a whole broker locks have their own
        } else {
            BareService bare = BareService.around(name, store, executor, work);
            service = bare;
            topics = bare.topics();
        }
    }

    @Override
    boolean isAt(String address) {
        return whole ? address.equals(service.getBrokerServiceUrl()) : super.isAt(address);
    }

    PulsarService pulsar() {
        return service;
    }

    private NamespaceService namespaces() {
        return service.getNamespaceService();
    }

    private NamespaceBundleFactory factory() {
        return namespaces().getNamespaceBundleFactory();
    }

    @Override
    OwnershipCache cache() {
        return namespaces().getOwnershipCache();
    }

    @Override
    NamespaceBundle bundle(String name) {
        long[] of = ends.get(name);
        return factory().getBundle(namespace.toString(), String.format("0x%08x_0x%08x", of[0], of[1]));
    }

    @Override
    Collection<String> bundles() {
        return ends.keySet();
    }

    /** To look at it may have it read something. */
    @Override
    boolean rests() {
        return false;
    }

    /** What is read is read, and a copy of the layout that was dropped is read again, as by the next lookup. */
    @Override
    boolean pass() throws Exception {
        boolean any = super.pass();
        if (reaches()) {
            factory().getBundlesAsync(namespace);
        }
        return any;
    }

    /** Unloads the bundle. */
    void unload(String bundle) throws Exception {
        CompletableFuture<Void> unloaded = namespaces().unloadNamespaceBundle(bundle(bundle));
        // it goes on by itself; only a refusal is known at once
        if (unloaded.isCompletedExceptionally()) {
            try {
                unloaded.get();
            } catch (ExecutionException e) {
                throw new Refused(e.getCause().toString());
            }
        }
    }

    void open(String bundle) throws Exception {
        topics.open(bundle(bundle), topic(bundle));
    }

    /** The name of a topic that is in the bundle. */
    private String topic(String bundle) {
        for (int i = 0;; i++) {
            String topic = "persistent://" + namespace + "/topic-" + i;
            if (bundle(bundle).includes(org.apache.pulsar.common.naming.TopicName.get(topic))) {
                return topic;
            }
        }
    }

    void close(String bundle, boolean fails) throws Exception {
        topics.end(bundle(bundle), fails);
    }

    void timeOut(String bundle) throws Exception {
        topics.timeOut(bundle(bundle));
    }

    /** The broker is asked to split a bundle, and looks whether it may. */
    void mayBeginSplit(String bundle) throws Exception {
        try {
            factory().getBundlesAsync(namespace).get(HeldStore.SECONDS, TimeUnit.SECONDS).validateBundle(bundle(bundle));
        } catch (IllegalArgumentException e) {
            throw new Refused(e.getMessage());
        }
        if (!cache().isNamespaceBundleOwned(bundle(bundle))) {
            throw new Refused(name + " does not serve " + bundle);
        }
        split = new CompletableFuture<>();
        attempts = 0;
    }

    /** An attempt of a split begins, the first or another one. */
    void prepare(String bundle, boolean first, long cut, boolean unload) throws Exception {
        boundary = cut;
        if (!first) {
            goOn();
            return;
        }
        NamespaceBundleSplitAlgorithm algorithm = cut < 0 ? NamespaceBundleSplitAlgorithm.RANGE_EQUALLY_DIVIDE_ALGO
                : option -> CompletableFuture.completedFuture(new ArrayList<>(List.of(boundary)));
        NamespaceBundleSplitAlgorithm counted = option -> {
            attempts++;
            parent = bundles().stream().filter(each -> bundle(each).equals(option.getBundle())).findFirst().orElseThrow();
            return algorithm.getSplitBoundary(option);
        };
        CompletableFuture<Void> ended = split;
        namespaces().splitAndOwnBundle(bundle(bundle), unload, counted, null)
                .whenComplete((none, error) -> ended.complete(null));
    }

    /** An attempt of a split begins after the copy of the layout was dropped, and another one cannot be read. */
    void failToLoad(String bundle) throws Exception {
        service.getPulsarResources().getLocalPolicies().getCache().invalidate(requests.layout());
        // as whoever orders a split does (ModularLoadManagerImpl.checkNamespaceBundleSplit)
        factory().invalidateBundleCache(namespace);
        prepare(bundle, true, -1, false);
        settle();
        store.fail(request(requests.layout(), BundleRequests.CACHE));
    }

    /** What waits to be done by another thread is done. */
    void goOn() throws Exception {
        if (!work.waits()) {
            throw new Refused(name + " has nothing to go on with");
        }
        work.advance();
    }

    /** The pause between two attempts is over. */
    void awake() throws Exception {
        if (!executor.hasDelayed()) {
            throw new Refused(name + " does not pause");
        }
        executor.advance();
    }

    /** The layout is written, or not. What the broker has written itself it is told of at once. */
    void write() throws Exception {
        Held held = request(requests.layout(), NamespaceRequests.LAYOUT);
        boolean known = store.hasNews(requests.layout());
        store.send(held);
        if (!held.op().getFuture().isCompletedExceptionally() && !known) {
            store.hear(requests.layout());
        }
    }

    /** The policies are written; if they have another version they are read again, and so on. */
    void writePolicies() throws Exception {
        store.send(request(requests.policies(), NamespaceRequests.POLICIES));
        settle();
        while (!work.waits()) {
            Server.until("next try to write the policies", () -> {
                settle();
                return work.waits() || held(requests.policies(), NamespaceRequests.POLICIES, true) != null;
            });
            if (!work.waits()) {
                store.send(request(requests.policies(), NamespaceRequests.POLICIES));
                settle();
            }
        }
    }

    /** A write is answered with: the session is gone. */
    void failToWrite(boolean policies) throws Exception {
        store.fail(policies ? request(requests.policies(), NamespaceRequests.POLICIES)
                : request(requests.layout(), NamespaceRequests.LAYOUT));
    }

    /** The layout is written, and the connection breaks before the broker has an answer, or hears of it. */
    void writeUnheard() throws Exception {
        Held held = request(requests.layout(), NamespaceRequests.LAYOUT);
        int version = server.node(requests.layout()).version();
        long news = store.news(requests.layout());
        unheard(held, () -> server.node(requests.layout()).version() > version);
        while (store.news(requests.layout()) > news) {
            store.dropLatestNews(requests.layout());
        }
    }

    private Held request(String path, String kind) throws Refused {
        Held held = held(path, kind, true);
        if (held == null) {
            throw new Refused(name + " does not write the " + kind);
        }
        return held;
    }

    /** The broker hears that the layout was changed. */
    void hearOfLayout() throws Exception {
        if (!store.hasNews(requests.layout())) {
            throw new Refused(name + " has no change of the layout to hear of");
        }
        store.hear(requests.layout());
    }

    @Override
    void besides(String bundle, ArrayNode requests) {
        if (topics != null && topics.isClosing(bundle(bundle))) {
            requests.add("close");
        }
    }

    @Override
    void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (!lives()) {
            return;
        }
        told.put("change", store.hasNews(requests.layout()));
        boolean splitting = split != null && !split.isDone();
        told.put("splitting", splitting);
        told.put("attempt", splitting ? attempts : 0);
        if (splitting && attempts > 0) {
            told.put("parent", parent);
        }
        Optional<NamespaceBundles> copy = factory().getBundlesIfPresent(namespace);
        if (copy.isPresent()) {
            var view = told.putArray("view");
            copy.get().getBundles().forEach(bundle -> view.add(bundle.getKeyRange().lowerEndpoint()));
            view.add(NamespaceBundles.FULL_UPPER_BOUND);
            told.put("view_version", (long) copy.get().getVersion().orElse(-1L));
        }
        Held write = held(requests.layout(), NamespaceRequests.LAYOUT, true);
        if (write != null) {
            OpPut put = (OpPut) write.op();
            told.set("proposed", BrokersBench.boundaries(new String(put.getData(), StandardCharsets.UTF_8)));
            told.put("based_on", (long) put.getOptExpectedVersion().orElse(-1L));
        }
        for (String bundle : bundles()) {
            ObjectNode of = (ObjectNode) told.get("bundles").get(bundle);
            of.put("topic_open", topics != null && topics.isOpen(bundle(bundle)));
            of.put("topic_kept", topics != null && topics.isKept(bundle(bundle)));
        }
        var asked = told.putArray("requests");
        tell(requests.layout(), asked);
        tell(requests.policies(), asked);
        if (work.waits()) {
            asked.add("work");
        }
        if (executor.hasDelayed()) {
            asked.add("pause");
        }
    }
}
