package fencepost;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.impl.MessageIdImpl;

/** One producer of one topic: numbers in order, one message each, and which of them were acknowledged. */
final class Stream {
    private static final int PENDING = 1000;
    private static final int SILENT_SECONDS = 4;

    /** Sums over streams. */
    static final class Account {
        long sent;
        long acknowledged;
        long read;
        long lost;
        long lostAsDuplicates;
        long outOfOrder;
        long twice;
    }

    private final String topic;
    private final Producer<Integer> producer;
    private final BitSet acknowledged = new BitSet();
    /** Acknowledged without a position, as the broker does with what it takes for a duplicate. */
    private final BitSet asDuplicates = new BitSet();
    private final Thread sender = new Thread(this::send, "sender");
    private volatile boolean over;
    private int sent;
    private int answered;

    Stream(PulsarClient client, String topic) throws Exception {
        this.topic = topic;
        // a subscription keeps what is acknowledged
        client.newConsumer(Schema.INT32).topic(topic).subscriptionName("s").subscribe().close();
        producer = client.newProducer(Schema.INT32).topic(topic).producerName("p").enableBatching(false)
                .sendTimeout(0, TimeUnit.SECONDS).maxPendingMessages(PENDING).blockIfQueueFull(true).create();
        sender.setDaemon(true);
    }

    void start() {
        sender.start();
    }

    private void send() {
        while (!over) {
            int number = sent++;
            producer.sendAsync(number).whenComplete((id, failure) -> heard(number, id, failure));
        }
    }

    private synchronized void heard(int number, MessageId id, Throwable failure) {
        answered++;
        if (failure == null) {
            acknowledged.set(number);
            if (((MessageIdImpl) id).getLedgerId() < 0) {
                asDuplicates.set(number);
            }
        }
        notifyAll();
    }

    void stop() {
        over = true;
    }

    /**
     * Waits for the answers, until a moment of System.nanoTime at most, reads the topic with a client of its own, and adds to the
     * sums; returns the ranges that were acknowledged and not read.
     */
    List<String> account(Account sums, PulsarClient client, long deadline) throws Exception {
        awaitAnswers(deadline);
        BitSet got = new BitSet();
        int highest = -1;
        try (Reader<Integer> reader = client.newReader(Schema.INT32).topic(topic).startMessageId(MessageId.earliest).create()) {
            for (Message<Integer> next = reader.readNext(SILENT_SECONDS, TimeUnit.SECONDS); next != null;
                    next = reader.hasMessageAvailable() ? reader.readNext(SILENT_SECONDS, TimeUnit.SECONDS) : null) {
                int number = next.getValue();
                sums.read++;
                if (got.get(number)) {
                    sums.twice++;
                } else if (number < highest) {
                    sums.outOfOrder++;
                }
                got.set(number);
                highest = Math.max(highest, number);
            }
        }
        BitSet lost;
        synchronized (this) {
            sums.sent += sent;
            sums.acknowledged += acknowledged.cardinality();
            lost = (BitSet) acknowledged.clone();
            lost.andNot(got);
            sums.lost += lost.cardinality();
            BitSet taken = (BitSet) lost.clone();
            taken.and(asDuplicates);
            sums.lostAsDuplicates += taken.cardinality();
        }
        List<String> ranges = new ArrayList<>();
        for (int from = lost.nextSetBit(0); from >= 0;) {
            int end = lost.nextClearBit(from);
            ranges.add(from + " to " + (end - 1));
            from = lost.nextSetBit(end);
        }
        return ranges;
    }

    private synchronized void awaitAnswers(long deadline) throws InterruptedException {
        while ((answered < sent || sender.isAlive()) && System.nanoTime() < deadline) {
            wait(100);
        }
    }
}
