package org.apache.pulsar.metadata.coordination.impl;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.loadbalance.extensions.data.BrokerLookupData;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.common.api.proto.ProducerAccessMode;

/** The producer of a client, made without its constructor, which wants a connection: the topic has it until it disconnects it. */
final class UnitClient extends Producer {
    private Topic topic;

    private UnitClient() {
        super(null, null, 0, null, null, false, Map.of(), null, 0, false, null, Optional.empty(), false);
    }

    static UnitClient of(Topic topic) {
        UnitClient client = Bare.of(UnitClient.class);
        client.topic = topic;
        return client;
    }

    /** What Producer.disconnect has the thread of the connection do. */
    @Override
    public CompletableFuture<Void> disconnect(Optional<BrokerLookupData> next) {
        topic.removeProducer(this);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public Topic getTopic() {
        return topic;
    }

    @Override
    public String getProducerName() {
        return "client";
    }

    @Override
    public ProducerAccessMode getAccessMode() {
        return ProducerAccessMode.Shared;
    }

    @Override
    public boolean isRemote() {
        return false;
    }
}
