package org.apache.pulsar.metadata.coordination.impl;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.bookkeeper.mledger.AsyncCallbacks.CloseCallback;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.persistent.MessageDeduplication;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.broker.transaction.buffer.TransactionBuffer;

/**
 * PersistentTopic, made without its constructor, which wants a whole broker: close with its CloseFutures, disposeTopic, the fence,
 * isTransferring, addProducer and removeProducer are those of the release.
 *
 * <p>Its managed ledger is the harness's: asyncClose waits for a step. ManagedLedgerImpl would answer a second one at once, also
 * while the first is under way. It has no subscription, no replicator and no compaction, a transaction buffer that closes at once,
 * no deduplication, and one client, a producer.
 */
final class UnitTopic extends PersistentTopic {
    private static final Class<?> DECLARING = PersistentTopic.class;

    /** asyncClose as a closing halfway has called it, until it is answered; there is no other before it. */
    private CloseCallback halfway;
    private List<CloseCallback> entirely;
    private boolean ledgerClosed;

    private UnitTopic() {
        super(null, null, null);
    }

    static UnitTopic of(String name, BrokerService brokers) {
        UnitTopic topic = Bare.of(UnitTopic.class);
        topic.entirely = new ArrayList<>();
        Bare.logged(DECLARING, topic);
        Bare.logged(AbstractTopic.class, topic);
        Bare.set(AbstractTopic.class, topic, "topic", name);
        Bare.set(AbstractTopic.class, topic, "brokerService", brokers);
        Bare.set(AbstractTopic.class, topic, "producers", new ConcurrentHashMap<>());
        Bare.set(AbstractTopic.class, topic, "lock", new ReentrantReadWriteLock());
        Bare.set(AbstractTopic.class, topic, "topicEpoch", Optional.empty());
        Bare.set(AbstractTopic.class, topic, "waitingExclusiveProducers", new ConcurrentLinkedQueue<>());
        for (String each : List.of("subscriptions", "replicators", "shadowReplicators")) {
            Bare.set(DECLARING, topic, each, new ConcurrentHashMap<>());
        }
        for (String each : List.of("replicatedSubscriptionsController", "dispatchRateLimiter", "subscribeRateLimiter")) {
            Bare.set(DECLARING, topic, each, Optional.empty());
        }
        Bare.set(DECLARING, topic, "ledger", proxy(ManagedLedger.class, topic::ask));
        Bare.set(DECLARING, topic, "transactionBuffer",
                proxy(TransactionBuffer.class, (method, arguments) -> CompletableFuture.completedFuture(null)));
        Bare.set(DECLARING, topic, "messageDeduplication", Bare.of(NoDeduplication.class));
        return topic;
    }

    private interface Answer {
        Object to(Method method, Object[] arguments);
    }

    private static Object proxy(Class<?> type, Answer answer) {
        return Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> answer.to(method, arguments));
    }

    private synchronized Object ask(Method method, Object[] arguments) {
        if (method.getName().startsWith("is")) {
            return false; // neither terminated nor migrated
        }
        if (!method.getName().equals("asyncClose")) {
            throw new UnsupportedOperationException(method.toString());
        }
        CloseCallback callback = (CloseCallback) arguments[0];
        // PersistentTopic.close calls it once halfway, if that is the first closing, and once entirely
        if (isTransferring() && !ledgerClosed && halfway == null && entirely.isEmpty()) {
            halfway = callback;
        } else {
            entirely.add(callback);
        }
        return null;
    }

    /** A client comes. */
    CompletableFuture<?> serve() {
        return addProducer(UnitClient.of(this), new CompletableFuture<>());
    }

    /** Whether somebody waits for the ledger to close. */
    synchronized boolean isClosing() {
        return halfway != null || !entirely.isEmpty();
    }

    /** Whether the ledger is to be closed by a closing that disposes of the topic. */
    synchronized boolean isClosingEntirely() {
        return !entirely.isEmpty();
    }

    /** How far a topic that the map has is closed; "fenced" is one that nobody closes and that serves no client. */
    synchronized String state() {
        if (!isFenced) {
            return "open";
        }
        if (!ledgerClosed) {
            return isTransferring() ? "detaching" : "closing";
        }
        boolean attached = isTransferring() && (!producers.isEmpty() || !entirely.isEmpty());
        return attached ? "attached" : "fenced";
    }

    /** The ledger is closed for the closing halfway; false if there is none. */
    boolean endHalfway() {
        CloseCallback ended;
        synchronized (this) {
            ended = halfway;
            halfway = null;
            ledgerClosed |= ended != null;
        }
        if (ended == null) {
            return false;
        }
        ended.closeComplete(null);
        return true;
    }

    /** The ledger is closed for whatever waits; false if nothing waits that disposes of the topic. */
    boolean end() {
        List<CloseCallback> ended;
        synchronized (this) {
            ended = List.copyOf(entirely);
            entirely.clear();
        }
        if (ended.isEmpty()) {
            return false;
        }
        endHalfway();
        synchronized (this) {
            ledgerClosed = true;
        }
        ended.forEach(each -> each.closeComplete(null));
        return true;
    }

    /** There is no replication; 4.2.4 does not ask for it here. */
    public CompletableFuture<Void> startReplProducers() {
        return CompletableFuture.completedFuture(null);
    }

    private static final class NoDeduplication extends MessageDeduplication {
        private NoDeduplication() {
            super(null, null, null);
        }

        @Override
        public void producerAdded(String producer) {
        }

        @Override
        public void producerRemoved(String producer) {
        }
    }
}
