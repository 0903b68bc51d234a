package org.apache.bookkeeper.mledger.impl;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.apache.pulsar.broker.service.Topic.PublishContext;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.protocol.Commands;
import org.apache.pulsar.common.protocol.Commands.ChecksumType;

/** A message on its way to a topic; its number is its sequence id. */
final class Publication implements PublishContext {
    private static final String PRODUCER = "producer";

    final int message;
    private final Answered answered;

    /** Who hears what became of it. */
    interface Answered {
        void hear(Publication of, Exception failure);
    }

    Publication(int message, Answered answered) {
        this.message = message;
        this.answered = answered;
    }

    ByteBuf payload() {
        MessageMetadata metadata = new MessageMetadata().setProducerName(PRODUCER).setSequenceId(message).setPublishTime(1);
        return Commands.serializeMetadataAndPayload(ChecksumType.Crc32c, metadata, Unpooled.wrappedBuffer(new byte[] {1}));
    }

    /** The message that is stored as these bytes. */
    static int of(byte[] entry) {
        return (int) Commands.parseMessageMetadata(Unpooled.wrappedBuffer(entry)).getSequenceId();
    }

    @Override
    public String getProducerName() {
        return PRODUCER;
    }

    @Override
    public long getSequenceId() {
        return message;
    }

    @Override
    public long getHighestSequenceId() {
        return message;
    }

    @Override
    public void completed(Exception failure, long ledger, long entry) {
        answered.hear(this, failure);
    }
}
