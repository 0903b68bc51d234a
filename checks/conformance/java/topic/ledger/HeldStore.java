package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.metadata.api.GetResult;
import org.apache.pulsar.metadata.api.MetadataStoreException;
import org.apache.pulsar.metadata.api.Stat;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/** The metadata of a run in memory; each broker has its own view, where updates of the list of ledgers are held. */
final class HeldStore {
    static final String TOPIC = "public/default/persistent/topic";
    static final String SUBSCRIPTION = "subscription";
    private static final String LIST = "/managed-ledgers/" + TOPIC;
    private static final String CURSOR = LIST + "/" + SUBSCRIPTION;

    private final TreeMap<String, Node> nodes = new TreeMap<>();
    private final TreeMap<String, Long> former = new TreeMap<>();

    private record Node(byte[] value, long version) {
    }

    /** An update of the list that waits; {@code what} says why it is written. */
    final class Update {
        final String what;
        private final byte[] value;
        private final Optional<Long> expected;
        private final CompletableFuture<Stat> answer = new CompletableFuture<>();

        Update(String what, byte[] value, Optional<Long> expected) {
            this.what = what;
            this.value = value;
            this.expected = expected;
        }

        void perform() {
            settle(answer, () -> put(LIST, value, expected));
        }

        /** The session is over before the answer; the update may be {@code done}. */
        void fail(boolean done) {
            if (done) {
                settle(new CompletableFuture<>(), () -> put(LIST, value, expected));
            }
            answer.completeExceptionally(new MetadataStoreException("KeeperErrorCode = Session expired"));
        }
    }

    /** What a broker sees of it. */
    static final class View {
        final List<Update> updates = new ArrayList<>();
        /** Why the list is written next. */
        String reason = "list";
        /** The subscription's cursor is read by a step of the run; its answer waits until then. */
        boolean cursorsLater;
        CompletableFuture<Optional<GetResult>> cursor;
        /** The cache has no list of cursors, except for those that a broker opens itself. */
        boolean stale;
        MetadataStoreExtended store;
    }

    /** The list; null if there is none. */
    byte[] list() {
        return nodes.containsKey(LIST) ? nodes.get(LIST).value : null;
    }

    /** Its version, or that which it will have when it is created again: it rises over deletions, other than in ZooKeeper. */
    long version() {
        return nodes.containsKey(LIST) ? nodes.get(LIST).version : former.getOrDefault(LIST, 0L);
    }

    /** The list, which is deleted, has this version when it is created again. */
    void renumber(long version) {
        former.put(LIST, version);
    }

    /** The node of the subscription's cursor; null if there is none. */
    byte[] cursor() {
        return nodes.containsKey(CURSOR) ? nodes.get(CURSOR).value : null;
    }

    void createCursor(byte[] value) {
        nodes.put(CURSOR, new Node(value, 0));
    }

    /** The cursor is read that a broker waits for; returns whether there is one. */
    boolean readCursor(View view) {
        CompletableFuture<Optional<GetResult>> answer = view.cursor;
        view.cursor = null;
        return answer != null && answer.complete(get(CURSOR));
    }

    View view() {
        View view = new View();
        Class<?> type = MetadataStoreExtended.class;
        view.store = (MetadataStoreExtended) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, a) ->
                switch (method.getName()) {
                    case "get" -> view.cursorsLater && a[0].equals(CURSOR) ? view.cursor = new CompletableFuture<>()
                            : answered(() -> get((String) a[0]));
                    case "exists" -> answered(() -> nodes.containsKey(a[0]));
                    case "getChildren" -> answered(() -> view.stale ? List.of() : children((String) a[0]));
                    case "delete" -> answered(() -> remove((String) a[0]));
                    case "put" -> put(view, (String) a[0], (byte[]) a[1], expected(a[2]));
                    default -> method.isDefault() || method.getReturnType() == void.class ? null
                            : refused(method.getName());
                });
        return view;
    }

    private CompletableFuture<Stat> put(View view, String path, byte[] value, Optional<Long> expected) {
        if (path.equals(LIST) && expected.orElse(-1L) >= 0) {
            Update update = new Update(view.reason, value, expected);
            view.updates.add(update);
            return update.answer;
        }
        return answered(() -> put(path, value, expected));
    }

    @SuppressWarnings("unchecked")
    private static Optional<Long> expected(Object argument) {
        return (Optional<Long>) argument;
    }

    private Stat put(String path, byte[] value, Optional<Long> expected) throws MetadataStoreException {
        Node node = nodes.get(path);
        long version = node == null ? -1 : node.version;
        if (expected.isPresent() && expected.get() != version) {
            throw new MetadataStoreException.BadVersionException("version " + version + " is not " + expected.get());
        }
        long next = node == null ? former.getOrDefault(path, 0L) : version + 1;
        nodes.put(path, new Node(value, next));
        return stat(path, next);
    }

    private Object remove(String path) throws MetadataStoreException {
        Node node = nodes.remove(path);
        if (node == null) {
            throw new MetadataStoreException.NotFoundException("there is no such node: " + path);
        }
        former.put(path, node.version + 1);
        return null;
    }

    private Optional<GetResult> get(String path) {
        Node node = nodes.get(path);
        return Optional.ofNullable(node).map(found -> new GetResult(found.value, stat(path, found.version)));
    }

    private List<String> children(String path) {
        String prefix = path + "/";
        return nodes.tailMap(prefix).keySet().stream().takeWhile(each -> each.startsWith(prefix))
                .map(each -> each.substring(prefix.length())).filter(each -> !each.contains("/")).toList();
    }

    private static Object refused(String method) {
        throw new UnsupportedOperationException("the store in memory has no " + method);
    }

    private static Stat stat(String path, long version) {
        return new Stat(path, version, 0, 0, false, false);
    }

    private interface Work<T> {
        T done() throws MetadataStoreException;
    }

    private static <T> CompletableFuture<T> answered(Work<T> work) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        settle(answer, work);
        return answer;
    }

    private static <T> void settle(CompletableFuture<T> answer, Work<T> work) {
        try {
            answer.complete(work.done());
        } catch (MetadataStoreException e) {
            answer.completeExceptionally(e);
        }
    }
}
