package org.apache.bookkeeper.mledger.impl;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.util.concurrent.RateLimiter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.bookkeeper.client.HeldBookKeeper;
import org.apache.bookkeeper.client.HeldHandle;
import org.apache.bookkeeper.client.Request;
import org.apache.bookkeeper.client.StoredLedgers;
import org.apache.bookkeeper.client.Tasks;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ClearBacklogCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.CloseCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.DeleteLedgerCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.MarkDeleteCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.TerminateCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.UpdatePropertiesCallback;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.HeldStore.Update;
import org.apache.bookkeeper.mledger.impl.HeldStore.View;
import org.apache.bookkeeper.mledger.intercept.ManagedLedgerInterceptor;
import org.apache.bookkeeper.mledger.util.CallbackMutex;
import org.apache.pulsar.broker.service.persistent.HeldTopic;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/** A broker that may have the topic: ManagedLedgerImpl and MetaStoreImpl, and above them PersistentTopic and MessageDeduplication. */
final class TopicBroker {
    private static final long TICK_MS = 1000;
    private static final int ROLLOVER_HOURS = 4;
    private static final RateLimiter USED_UP = RateLimiter.create(1e-9);

    final String name;
    private final ManagedLedgerFactoryImpl factory;
    private final HeldStore store;
    private final StoredLedgers ledgers;
    private final Settings settings;
    private final Publication.Answered client;
    private final Queue<Integer> waiting = new ArrayDeque<>();
    private final Set<Publication> unanswered = new HashSet<>();
    private final Set<Publication> counted = new HashSet<>();
    private final SettableClock clock = new SettableClock();
    private Tasks tasks;
    private View view;
    private HeldBookKeeper bookies;
    private ManagedLedgerConfig config;
    ManagedLedgerImpl ledger;
    HeldTopic topic;

    record Settings(int capacity, boolean deduplicated, boolean lazy) {
    }

    /** A clock that goes on with each step. */
    private static final class SettableClock extends Clock {
        private long now = TICK_MS;

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochMilli(now);
        }
    }

    static {
        USED_UP.acquire();
    }

    TopicBroker(String name, ManagedLedgerFactoryImpl factory, HeldStore store, StoredLedgers ledgers, Settings settings,
            Publication.Answered client) throws Exception {
        this.name = name;
        this.factory = factory;
        this.store = store;
        this.ledgers = ledgers;
        this.settings = settings;
        this.client = (publication, failure) -> {
            unanswered.remove(publication);
            counted.remove(publication);
            client.hear(publication, failure);
        };
        forget();
    }

    /** The connection of the client is over; the next one counts nothing. */
    void hangUp() {
        counted.clear();
    }

    /** The process ends, or the topic leaves it. The connection goes on counting what is not answered. */
    void forget() throws Exception {
        tasks = new Tasks();
        view = store.view();
        bookies = new HeldBookKeeper(ledgers, tasks);
        waiting.clear();
        unanswered.clear();
        ledger = null;
        topic = null;
    }

    void drain() {
        tasks.drain();
        clock.now += TICK_MS;
    }

    void open() throws ReflectiveOperationException {
        view.cursorsLater = settings.lazy;
        config = new ManagedLedgerConfig();
        config.setEnsembleSize(1).setWriteQuorumSize(1).setAckQuorumSize(1);
        config.setMaxEntriesPerLedger(settings.capacity).setMinimumRolloverTime(0, TimeUnit.MILLISECONDS);
        config.setMaximumRolloverTime(ROLLOVER_HOURS, TimeUnit.HOURS);
        config.setRetentionTime(-1, TimeUnit.SECONDS).setRetentionSizeInMB(-1);
        config.setMetadataMaxEntriesPerLedger(1); // so that the node of a cursor has the last position, too
        try { // since 5.0.1 adds that wait for the executor go there together: here each arrives by itself
            ManagedLedgerConfig.class.getMethod("setAddEntryHandoverMaxBatchItems", int.class).invoke(config, 1);
        } catch (NoSuchMethodException before) {
            // each arrives by itself
        }
        config.setAddEntryTimeoutSeconds(1).setLazyCursorRecovery(settings.lazy).setClock(clock);
        MetaStoreImpl lists = new MetaStoreImpl(view.store, tasks.scheduler());
        ManagedLedgerImpl opened = new ManagedLedgerImpl(factory, bookies, lists, config, tasks.scheduler(), HeldStore.TOPIC);
        ledger = opened;
        opened.initialize(new ManagedLedgerImpl.ManagedLedgerInitializeLedgerCallback() {
            @Override
            public void initializeComplete() {
                try {
                    topic = HeldTopic.of(opened, tasks.executor(), settings.deduplicated);
                    topic.checkDeduplication();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            public void initializeFailed(ManagedLedgerException failure) {
                ledger = null;
            }
        }, null);
    }

    /** Answers the request that waits; returns whether there was one, or it is a close that was answered at once. */
    boolean let(String what, long of, int code, int entries) {
        view.reason = ledger != null && ledger.state == ManagedLedgerImpl.State.Terminated && what.equals("close") ? "end" : "list";
        for (Request request : bookies.requests()) {
            if (asked(request).equals(what) && request.ledger == of) {
                bookies.requests().remove(request);
                request.answer(code, entries);
                tasks.drain();
                return true;
            }
        }
        return what.equals("close") && current().getId() == of && current().isEnded();
    }

    /** What is asked for; an entry that has filled its ledger asks for a close of its own. */
    private static String asked(Request request) {
        return request.what.equals("close") && request.of instanceof OpAddEntry ? "close-full" : request.what;
    }

    /** The ledger that is asked for is created, and the broker has not heard of it; returns whether it has asked. */
    boolean createAhead() {
        boolean asked = bookies.requests().stream().anyMatch(request -> request.what.equals("create"));
        if (asked) {
            bookies.createAhead();
        }
        return asked;
    }

    /**
     * Settles the update of the list that waits; returns whether there was one. The cursors that are read then may be listed by a
     * {@code stale} cache, or their ledgers be {@code unreadable}.
     */
    boolean write(String what, String outcome, String cursors) {
        for (Update update : view.updates) {
            if (update.what.equals(what)) {
                view.updates.remove(update);
                if (outcome.equals("done")) {
                    view.stale = cursors.equals("stale");
                    bookies.unreadable = cursors.equals("unreadable");
                    update.perform();
                    tasks.drain();
                    view.stale = bookies.unreadable = false;
                } else {
                    update.fail(outcome.equals("unheard"));
                }
                return true;
            }
        }
        return false;
    }

    void publish(int message) {
        tasks.publish(() -> {
            Publication publication = new Publication(message, client);
            unanswered.add(publication);
            counted.add(publication);
            int before = tasks.waiting();
            topic.publishMessage(publication.payload(), publication);
            if (tasks.waiting() > before) {
                waiting.add(message);
            }
        });
    }

    boolean arrive() {
        waiting.poll();
        return tasks.arrive();
    }

    /** The same, of an entry that an interceptor of the broker cannot process. */
    boolean arriveUnprocessed() {
        Class<?> type = ManagedLedgerInterceptor.class;
        ledger.managedLedgerInterceptor = (ManagedLedgerInterceptor) Proxy.newProxyInstance(type.getClassLoader(),
                new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().equals("processPayloadBeforeLedgerWrite")) {
                        throw new IllegalStateException("an entry that cannot be processed");
                    }
                    return null;
                });
        boolean arrived = arrive();
        ledger.managedLedgerInterceptor = null;
        return arrived;
    }

    private HeldHandle current() {
        return (HeldHandle) ledger.currentLedger;
    }

    boolean confirm(int entry) {
        return current().confirm(entry);
    }

    boolean fail(int code) {
        return current().fail(code);
    }

    /** The timer finds that the first add is too old. */
    void timeOut() throws Exception {
        OpAddEntry first = ledger.pendingAddEntries.peek();
        if (first != null) {
            first.lastInitTime = System.nanoTime() - TimeUnit.HOURS.toNanos(1);
        }
        Method check = ManagedLedgerImpl.class.getDeclaredMethod("checkAddTimeout");
        check.setAccessible(true);
        check.invoke(ledger);
    }

    /** From now on the ledger that is under creation has been so for too long. */
    void ageCreation() {
        Bare.set(ManagedLedgerImpl.class, ledger, "lastLedgerCreationInitiationTimestamp",
                System.currentTimeMillis() - TimeUnit.HOURS.toMillis(1));
    }

    /** The timer finds that the ledger is old enough. */
    void roll() {
        clock.now += TimeUnit.HOURS.toMillis(ROLLOVER_HOURS + 1);
        ledger.rollCurrentLedgerIfFull();
    }

    /** The close of a ledger that is closed is answered at once, and the list is written then. */
    void terminate() {
        view.reason = "end";
        ledger.asyncTerminate(new TerminateCallback() {
            @Override
            public void terminateComplete(Position last, Object context) {
            }

            @Override
            public void terminateFailed(ManagedLedgerException failure, Object context) {
            }
        }, null);
    }

    /** Without metadataMutex the update is put off, and the node is not written. */
    void setProperties() {
        view.reason = "properties";
        ledger.asyncSetProperties(Map.of("epoch", "1"), new UpdatePropertiesCallback() {
            @Override
            public void updatePropertiesComplete(Map<String, String> properties, Object context) {
            }

            @Override
            public void updatePropertiesFailed(ManagedLedgerException failure, Object context) {
            }
        }, null);
    }

    /** PersistentTopic.close: the topic takes no more writes, and its managed ledger is closed. */
    void close() {
        topic.close();
        ledger.asyncClose(new CloseCallback() {
            @Override
            public void closeComplete(Object context) {
            }

            @Override
            public void closeFailed(ManagedLedgerException failure, Object context) {
            }
        }, null);
    }

    /** The ledgers that the managed ledger has of the list. */
    Set<Long> known() {
        return ledger.getLedgersInfo().keySet();
    }

    boolean isFenced() {
        return ledger.state == ManagedLedgerImpl.State.Fenced;
    }

    /** Whether the managed ledger knows the list as it is written. */
    boolean knowsTheList() {
        return ledger.ledgersStat.getVersion() == store.version();
    }

    /** Ledgers up to this one need not be retained any more, and the timer of trimming comes. */
    CompletableFuture<Void> trim(long last) {
        view.reason = "trim";
        long closed = ledger.getLedgersInfo().get(last).getTimestamp();
        config.setRetentionTime((int) ((clock.now - closed) / TICK_MS) - 1, TimeUnit.SECONDS).setRetentionSizeInMB(1000);
        CompletableFuture<Void> trimmed = new CompletableFuture<>();
        ledger.internalTrimConsumedLedgers(trimmed);
        config.setRetentionTime(-1, TimeUnit.SECONDS).setRetentionSizeInMB(-1);
        return trimmed;
    }

    /** What PersistentTopic.delete leaves to the managed ledger. */
    void delete() {
        view.reason = "trim";
        ledger.asyncDelete(new DeleteLedgerCallback() {
            @Override
            public void deleteLedgerComplete(Object context) {
            }

            @Override
            public void deleteLedgerFailed(ManagedLedgerException failure, Object context) {
            }
        }, null);
    }

    private ManagedCursorImpl cursor() {
        for (ManagedCursor cursor : ledger.getCursors()) {
            if (cursor.getName().equals(HeldStore.SUBSCRIPTION)) {
                return (ManagedCursorImpl) cursor;
            }
        }
        return null;
    }

    /** The consumer acknowledges: the rate of updates allows none, so the position moves in memory. */
    void consume(long of, int entry, Consumer<Position> consumed) throws Exception {
        Bare.set(ManagedCursorImpl.class, cursor(), "markDeleteLimiter", USED_UP);
        Position position = PositionFactory.create(of, entry);
        cursor().asyncMarkDelete(position, marked(() -> consumed.accept(position)), null);
    }

    /** ManagedLedgerImpl.asyncTruncate without the trimming that follows, which is a step of its own. */
    void clearBacklogs() {
        for (ManagedCursor each : ledger.getCursors()) {
            each.asyncClearBacklog(new ClearBacklogCallback() {
                @Override
                public void clearBacklogComplete(Object context) {
                }

                @Override
                public void clearBacklogFailed(ManagedLedgerException failure, Object context) {
                }
            }, null);
        }
    }

    /** The timer writes the positions that were not written. */
    void flush() throws Exception {
        Bare.set(ManagedCursorImpl.class, cursor(), "markDeleteLimiter", null);
        cursor().flush();
    }

    private static MarkDeleteCallback marked(Runnable done) {
        return new MarkDeleteCallback() {
            @Override
            public void markDeleteComplete(Object context) {
                done.run();
            }

            @Override
            public void markDeleteFailed(ManagedLedgerException failure, Object context) {
            }
        };
    }

    private static boolean isLocked(CallbackMutex mutex) throws Exception {
        Field permits = CallbackMutex.class.getDeclaredField("semaphore");
        permits.setAccessible(true);
        return ((Semaphore) permits.get(mutex)).availablePermits() == 0;
    }

    boolean readCursor() {
        return store.readCursor(view);
    }

    void show(ObjectNode shown, Collection<String> requests) throws Exception {
        for (Request request : bookies.requests()) {
            requests.add(name + " " + asked(request) + (request.ledger == 0 ? "" : " l" + (request.ledger - 1)));
        }
        for (Update update : view.updates) {
            requests.add(name + " write " + update.what);
        }
        shown.put("counted", !counted.isEmpty());
        if (ledger == null) {
            shown.put("state", "none");
            return;
        }
        shown.put("state", ledger.state.name()).put("loaded", topic != null);
        ManagedCursorImpl cursor = cursor();
        if (cursor != null) {
            Position mark = cursor.getMarkDeletedPosition();
            shown.putArray("mark").add(mark.getLedgerId()).add(mark.getEntryId());
        }
        shown.put("mutex", isLocked(ledger.metadataMutex));
        shown.put("version", ledger.ledgersStat.getVersion());
        shown.put("current", ledger.currentLedger == null ? 0 : ledger.currentLedger.getId());
        ArrayNode known = shown.putArray("ledgers");
        ledger.getLedgersInfo().forEach((id, info) -> known.addArray().add(id).add(info.getEntries()));
        showQueue(shown);
        if (topic != null) {
            shown.put("topic", topic.status()).put("pending_writes", topic.pendingWrites());
            shown.put("unanswered", !unanswered.isEmpty());
            shown.put("pushed", topic.pushed()).put("persisted", topic.persisted());
        }
    }

    /** The writes that are not answered: the one that waits for the close of its ledger, those that are pending, and those that
     * wait for the executor. */
    private void showQueue(ObjectNode shown) {
        ArrayNode queue = shown.putArray("queue");
        boolean filled = false;
        for (Request request : bookies.requests()) {
            if (request.of instanceof OpAddEntry) {
                queue.add(((Publication) ((OpAddEntry) request.of).getCtx()).message);
                filled = true;
            }
        }
        int sent = filled ? 1 : 0;
        for (OpAddEntry add : ledger.pendingAddEntries) {
            queue.add(((Publication) add.getCtx()).message);
            sent += add.state == OpAddEntry.State.INITIATED && add.ledger == ledger.currentLedger ? 1 : 0;
        }
        shown.put("filled", filled).put("sent", sent).put("arrived", queue.size());
        waiting.forEach(queue::add);
    }
}
