package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.client.admin.LongRunningProcessStatus.Status;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionMode;

/** A compacted topic whose first ledger is trimmed, and what somebody reads of it. */
public final class CompactedBench implements Lines.Target {
    private static final String TOPIC = "persistent://" + WholeBroker.NAMESPACE + "/x";
    private static final int SECONDS = 120;

    private WholeBroker broker;
    private PulsarClient client;
    private Consumer<byte[]> consumer;
    private Message<byte[]> first;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(CompactedBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                broker = new WholeBroker(configuration ->
                        configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName()));
                client = PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl()).build();
                break;
            case "send":
                send(request.get("keys"));
                break;
            case "compact":
                compact();
                break;
            case "begin":
                answer.put("message", begin());
                break;
            case "unload":
                unload();
                break;
            case "acknowledge":
                consumer.acknowledgeCumulative(first);
                break;
            case "read":
                read(request.get("last").asText(), answer);
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void send(JsonNode keys) throws Exception {
        try (Producer<byte[]> producer = client.newProducer().topic(TOPIC).enableBatching(false).create()) {
            for (JsonNode key : keys) {
                producer.newMessage().key(key.asText()).value(new byte[1]).send();
            }
        }
    }

    /** Compacts the topic, and trims the ledger whose messages are in the compacted one. */
    private void compact() throws Exception {
        var topics = broker.pulsar.getAdminClient().topics();
        long ledger = topics.getInternalStats(TOPIC).ledgers.get(0).ledgerId;
        topics.triggerCompaction(TOPIC);
        Server.until("end of the compaction", () -> topics.compactionStatus(TOPIC).status == Status.SUCCESS);
        // the topic begins another ledger as it is loaded
        topics.unload(TOPIC);
        Server.until("trim of the ledger", () -> {
            topics.trimTopic(TOPIC);
            return topics.getInternalStats(TOPIC).ledgers.stream().noneMatch(each -> each.ledgerId == ledger);
        });
    }

    /** A consumer like that of a reader, except that it acknowledges on request; the key of the first message that it gets. */
    private String begin() throws Exception {
        consumer = client.newConsumer().topic(TOPIC).subscriptionName("s").subscriptionMode(SubscriptionMode.NonDurable)
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).readCompacted(true)
                .acknowledgmentGroupTime(0, TimeUnit.MILLISECONDS).subscribe();
        first = consumer.receive(SECONDS, TimeUnit.SECONDS);
        return first.getKey();
    }

    /** Returns when the consumer is connected again, which asks for no message before it reads on. */
    private void unload() throws Exception {
        consumer.pause();
        long before = consumer.getLastDisconnectedTimestamp();
        broker.pulsar.getAdminClient().topics().unload(TOPIC);
        Server.until("connection of the consumer", () -> consumer.getLastDisconnectedTimestamp() > before && consumer.isConnected());
    }

    private void read(String last, ObjectNode answer) throws Exception {
        consumer.resume();
        var messages = answer.putArray("messages");
        String key;
        do {
            key = consumer.receive(SECONDS, TimeUnit.SECONDS).getKey();
            messages.add(key);
        } while (!key.equals(last));
    }

    @Override
    public void close() throws Exception {
        if (broker != null) {
            broker.close();
        }
    }
}
