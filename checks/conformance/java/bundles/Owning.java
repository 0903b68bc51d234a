package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Refused;
import fencepost.Server;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.namespace.NamespaceEphemeralData;
import org.apache.pulsar.broker.namespace.OwnedBundle;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.broker.namespace.ServiceUnitUtils;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.metadata.coordination.impl.HeldStore.Held;

/** A broker, as far as it owns bundles: the requests of its locks, which are held, and what it takes itself to own. */
abstract class Owning extends Client {
    Owning(String name, Server server, HeldStore.Concern concern) {
        super(name, server, concern);
    }

    /** The server with the nodes that are in force. */
    Server server() {
        return server;
    }

    /** The session that the broker's present process, or its last one, has with that server. */
    long session() {
        return session;
    }

    /** The requests that are held, the oldest first. */
    List<Held> requests() {
        return store.requests();
    }

    /** The store that holds a request. */
    HeldStore holding(Held held) {
        return store;
    }

    abstract OwnershipCache cache();

    abstract NamespaceBundle bundle(String name);

    /** The names of the bundles. */
    abstract Collection<String> bundles();

    /** Whose address that is: it ends with the broker's name. */
    static String named(String address) {
        return address.substring(address.lastIndexOf('/') + 1);
    }

    /** Whether that is the address of this broker. */
    boolean isAt(String address) {
        return named(address).equals(name);
    }

    String path(String bundle) {
        return ServiceUnitUtils.path(bundle(bundle));
    }

    /** A lookup has led here: if the node says that the bundle is this broker's, by asking whose it is. */
    void own(String bundle) throws Exception {
        Server.Node node = server().node(path(bundle));
        if (node != null && reaches() && node.owner() == session()) {
            cache().getOwnerAsync(bundle(bundle));
        } else {
            cache().tryAcquiringOwnership(bundle(bundle));
        }
    }

    /** Takes a step of a request; returns false if it is none, and throws {@code Refused} if there is no such request. */
    boolean lets(String step, String bundle, String what, boolean newest) throws Exception {
        boolean there;
        switch (step) {
            case "let":
                there = let(bundle, what, newest);
                break;
            case "let-unheard":
                there = letUnheard(bundle, what);
                break;
            case "let-alone-unheard":
            case "let-alone-undone":
                there = letAlone(bundle, what, step.equals("let-alone-unheard"));
                break;
            case "fail":
                there = fail(bundle, what);
                break;
            case "hear":
                if (!hear(bundle)) {
                    throw new Refused(name + " has no deletion to hear of");
                }
                return true;
            default:
                return false;
        }
        if (!there) {
            throw new Refused(name + " has no request outstanding: " + what);
        }
        return true;
    }

    /** Lets a request of that kind go, the newest or the oldest; false if there is none. */
    boolean let(String bundle, String kind, boolean newest) throws Exception {
        Held held = held(path(bundle), kind, newest);
        if (held == null) {
            return false;
        }
        Set<Held> before = Set.copyOf(requests());
        boolean served = locked(path(bundle)) != null;
        holding(held).send(held);
        if (served) {
            lookAgain(before);
        }
        return true;
    }

    /** A request of that kind takes effect, and the connection breaks before it is answered. */
    private boolean letUnheard(String bundle, String kind) throws Exception {
        Held held = held(path(bundle), kind, true);
        if (held == null) {
            return false;
        }
        unheard(held, effect(bundle, kind));
        return true;
    }

    /** The same of a request that the store carries out alone; if it is not {@code done} the connection breaks before that. */
    private boolean letAlone(String bundle, String kind, boolean done) throws Exception {
        Held held = held(path(bundle), kind, true);
        if (held == null) {
            return false;
        }
        aloneUnheard(held, done ? effect(bundle, kind) : null);
        return true;
    }

    /** Whether a request of that kind has taken effect; of a deletion the server tells who watches before it answers. */
    private Callable<Boolean> effect(String bundle, String kind) {
        String path = path(bundle);
        boolean creates = kind.equals(BundleRequests.CREATE);
        return () -> creates ? server.node(path) != null : server.node(path) == null && store.hasNews(path);
    }

    /** A request of that kind is answered with: the session is gone. */
    private boolean fail(String bundle, String kind) throws Exception {
        Held held = held(path(bundle), kind, true);
        if (held == null) {
            return false;
        }
        holding(held).fail(held);
        return true;
    }

    /** The request of that kind for a path, the newest or the oldest; null if there is none. */
    final Held held(String path, String kind, boolean newest) {
        List<Held> meant = requests().stream()
                .filter(each -> each.kind().equals(kind) && each.path().equals(path)).toList();
        return meant.isEmpty() ? null : meant.get(newest ? meant.size() - 1 : 0);
    }

    /** A revalidation that was asked for while another was under way follows it, and finds what that left: it is not held. */
    private void lookAgain(Set<Held> before) throws Exception {
        settle();
        for (Held held : requests()) {
            if (held.kind().equals(BundleRequests.READ) && !before.contains(held)) {
                holding(held).send(held);
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

    /** Lets go what is not held: reads of caches. Whether there was any. */
    @Override
    boolean pass() throws Exception {
        boolean any = false;
        for (Held held : reaches() ? requests() : List.<Held>of()) {
            if (held.kind().equals(BundleRequests.CACHE)) {
                holding(held).send(held);
                any = true;
            }
        }
        return any;
    }

    final Object locks() throws Exception {
        return HeldStore.field(cache(), "lockManager");
    }

    private Object locked(String path) throws Exception {
        return ((Map<?, ?>) HeldStore.field(locks(), "locks")).get(path);
    }

    @Override
    void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (!lives()) {
            return;
        }
        ObjectNode each = told.putObject("bundles");
        for (String bundle : bundles()) {
            tell(bundle, each.putObject(bundle));
        }
    }

    private void tell(String bundle, ObjectNode told) throws Exception {
        String path = path(bundle);
        told.put("deletion", store.hasNews(path));
        told.put("deletions", store.news(path));
        Object lock = locked(path);
        told.put("state", lock == null ? "none" : HeldStore.field(lock, "state").toString());
        if (lock != null) {
            told.put("revalidate_when_back", (boolean) HeldStore.field(lock, "revalidateAfterReconnection"));
            told.put("version", (long) HeldStore.field(lock, "version"));
        }
        CompletableFuture<OwnedBundle> owned = cache().getOwnedBundlesAsync().get(bundle(bundle));
        boolean absent = owned == null || !owned.isDone();
        told.put("bundle_state", absent ? "absent" : owned.get().isActive() ? "active" : "inactive");
        @SuppressWarnings("unchecked")
        var known = (org.apache.pulsar.metadata.api.MetadataCache<NamespaceEphemeralData>) HeldStore.field(locks(), "cache");
        told.put("cached", known.getIfCached(path).map(of -> named(of.getNativeUrl())).orElse("nobody"));
        ArrayNode requests = told.putArray("requests");
        tell(path, requests);
        besides(bundle, requests);
    }

    /** What is under way for a bundle besides requests. */
    void besides(String bundle, ArrayNode requests) {
    }

    /** The requests for a path, by name; of two of the same name one is another. */
    final void tell(String path, ArrayNode requests) {
        var names = new TreeSet<String>();
        for (Held held : requests()) {
            if (held.path().equals(path) && !names.add(held.kind())) {
                names.add("another-" + held.kind());
            }
        }
        names.forEach(requests::add);
    }
}
