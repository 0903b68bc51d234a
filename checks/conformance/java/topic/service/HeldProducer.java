package org.apache.pulsar.broker.service.persistent;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/** A producer of a topic, made without its constructor; that it is disconnected is a step. */
final class HeldProducer extends Producer {
    private CompletableFuture<Void> disconnected;
    private boolean asked;

    private HeldProducer() {
        super(null, null, 0, null, null, false, Map.of(), null, 0, false, null, Optional.empty(), false);
    }

    static HeldProducer of() {
        HeldProducer producer = Bare.of(HeldProducer.class);
        producer.disconnected = new CompletableFuture<>();
        return producer;
    }

    @Override
    public CompletableFuture<Void> disconnect() {
        asked = true;
        return disconnected;
    }

    boolean isAsked() {
        return asked;
    }

    void gone() {
        disconnected.complete(null);
    }
}
