package org.apache.pulsar.broker.service.persistent;

import io.netty.buffer.ByteBuf;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.transaction.buffer.TransactionBuffer;
import org.apache.pulsar.common.policies.data.HierarchyTopicPolicies;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/**
 * PersistentTopic over a managed ledger, made without its constructor, which wants a whole broker: publishMessage, addComplete,
 * addFailed and what decides that it is fenced and unfenced are those of the release, and so is MessageDeduplication. That it closes
 * is noted, as fenceTopicToCloseOrDelete does it; the rest of a close, and the producer, are the harness's.
 */
public final class HeldTopic extends PersistentTopic {
    private static final String PRODUCER = "producer";
    private static final Class<?> DECLARING = PersistentTopic.class;

    private HierarchyTopicPolicies policies;
    private boolean deduplicated;
    private MessageDeduplication deduplication;

    private HeldTopic() {
        super(null, null, null);
    }

    public static HeldTopic of(ManagedLedger ledger, ScheduledExecutorService executor, boolean deduplicated) throws Exception {
        HeldTopic topic = Bare.of(HeldTopic.class);
        HeldService service = HeldService.of(executor);
        BrokerService brokers = Bare.of(BrokerService.class);
        Bare.set(BrokerService.class, brokers, "pulsar", service);
        if (Map.class.isAssignableFrom(BrokerService.class.getDeclaredField("topics").getType())) {
            Bare.set(BrokerService.class, brokers, "topics", Map.of());
        }
        topic.policies = new HierarchyTopicPolicies();
        topic.policies.getDeduplicationSnapshotIntervalSeconds().updateBrokerValue(1);
        topic.deduplicated = deduplicated;
        Bare.logged(DECLARING, topic);
        Bare.logged(AbstractTopic.class, topic);
        Bare.set(AbstractTopic.class, topic, "topic", ledger.getName());
        Bare.set(AbstractTopic.class, topic, "brokerService", brokers);
        Bare.set(AbstractTopic.class, topic, "producers", new ConcurrentHashMap<>());
        Bare.set(DECLARING, topic, "ledger", ledger);
        Bare.set(DECLARING, topic, "pendingWriteOps", new AtomicLong());
        Bare.set(DECLARING, topic, "transactionBuffer", Proxy.newProxyInstance(TransactionBuffer.class.getClassLoader(),
                new Class<?>[] {TransactionBuffer.class}, (proxy, method, arguments) -> null));
        topic.deduplication = new MessageDeduplication(service, topic, ledger);
        Bare.set(DECLARING, topic, "messageDeduplication", topic.deduplication);
        return topic;
    }

    /** Deduplication is turned on: its cursor is opened, and the log replayed. */
    public CompletableFuture<Void> checkDeduplication() {
        return deduplicated ? deduplication.checkStatus() : CompletableFuture.completedFuture(null);
    }

    public void addProducer() {
        producers.put(PRODUCER, HeldProducer.of());
    }

    /** Whether the producer is to be disconnected. */
    public boolean isCutOff() {
        HeldProducer producer = (HeldProducer) producers.get(PRODUCER);
        return producer != null && producer.isAsked();
    }

    /** The producer is closed, and so it is disconnected. */
    public void removeProducer() {
        HeldProducer producer = (HeldProducer) producers.remove(PRODUCER);
        if (producer != null) {
            producer.gone();
        }
    }

    /** What was pushed or persisted, as a count of messages. */
    public long pushed() {
        return 1 + deduplication.highestSequencedPushed.getOrDefault(PRODUCER, -1L);
    }

    public long persisted() throws Exception {
        Object last = ((Map<?, ?>) deduplication.highestSequencedPersisted).get(PRODUCER);
        if (last != null && !(last instanceof Long)) {
            last = get(last.getClass(), last, "value"); // since 5.0.1
        }
        return 1 + (last == null ? -1 : (Long) last);
    }

    /** The timer of snapshots, which takes one if the last is old enough. */
    public void takeSnapshot() throws Exception {
        Bare.set(MessageDeduplication.class, deduplication, "lastSnapshotTimestamp", 0L);
        deduplication.takeSnapshot();
    }

    public long pendingWrites() throws Exception {
        return ((AtomicLong) get(DECLARING, this, "pendingWriteOps")).get();
    }

    public String status() throws Exception {
        return (boolean) get(DECLARING, this, "isClosingOrDeleting") ? "closing" : isFenced ? "fenced" : "serving";
    }

    private static Object get(Class<?> declaring, Object of, String name) throws Exception {
        Field field = declaring.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    /** The topic is closed without its clients, as PersistentTopic.close notes it. */
    public void transfer() throws Exception {
        Bare.set(AbstractTopic.class, this, "transferring", true);
    }

    @Override
    public CompletableFuture<Void> close() {
        try {
            Bare.set(DECLARING, this, "isClosingOrDeleting", true);
            isFenced = true;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return new CompletableFuture<>();
    }

    @Override
    public boolean isDeduplicationEnabled() {
        return deduplicated;
    }

    @Override
    public HierarchyTopicPolicies getHierarchyTopicPolicies() {
        return policies;
    }

    @Override
    public boolean isMigrated() {
        return false;
    }

    @Override
    protected boolean isExceedMaximumMessageSize(int size, PublishContext context) {
        return false;
    }

    @Override
    protected boolean isExceedMaximumDeliveryDelay(ByteBuf message) {
        return false;
    }
}
