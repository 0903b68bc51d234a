package org.apache.pulsar.metadata.coordination.impl;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** A topic without a ledger; to close it takes until it is told to end. */
final class HeldTopic extends PersistentTopic {
    private CompletableFuture<Optional<Topic>> opened;
    private CompletableFuture<Void> closing;

    private HeldTopic() {
        super(null, null, null);
    }

    static HeldTopic named(String name) throws Exception {
        HeldTopic topic = Bare.of(HeldTopic.class);
        topic.opened = CompletableFuture.completedFuture(Optional.of(topic));
        Bare.set(AbstractTopic.class, topic, "topic", name);
        Bare.set(AbstractTopic.class, topic, "createFuture", topic.opened);
        return topic;
    }

    CompletableFuture<Optional<Topic>> opened() {
        return opened;
    }

    boolean isClosing() {
        return closing != null;
    }

    /** Begins to close, as the superclass does: the topic is fenced. */
    @Override
    public synchronized CompletableFuture<Void> close(boolean disconnectClients, boolean withoutWaiting) {
        if (closing == null) {
            isFenced = true;
            closing = new CompletableFuture<>();
        }
        return closing;
    }

    /** It is closed, or could not be, and then it is no longer fenced; false if it is not closing. */
    boolean end(boolean fails) {
        isFenced &= !fails;
        return closing != null
                && (fails ? closing.completeExceptionally(new IllegalStateException("not closed")) : closing.complete(null));
    }
}
