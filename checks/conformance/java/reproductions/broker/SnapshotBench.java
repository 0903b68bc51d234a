package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.api.Schema;

/** A topic with deduplication that is unloaded while its full ledger is being closed, and what a reader then gets. */
public final class SnapshotBench implements Lines.Target {
    private static final String TOPIC = "persistent://" + WholeBroker.NAMESPACE + "/x";
    private static final String DEDUPLICATION = "pulsar.dedup";
    private static final int SECONDS = 120;

    private WholeBroker broker;
    private PulsarClient client;
    private Producer<Integer> producer;
    private CompletableFuture<MessageId> last;
    private int sent;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(SnapshotBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                start(request.get("entries").asInt(), request.get("interval").asInt());
                break;
            case "send":
                for (int number = 0; number < request.get("messages").asInt(); number++) {
                    answer.put("last", producer.send(sent++).toString());
                }
                break;
            case "snapshot":
                answer.put("marked", snapshot(request.get("seconds").asInt()));
                break;
            case "fill":
                broker.link.cut();
                fill();
                answer.put("acknowledged", last.isDone());
                break;
            case "unload":
                answer.put("last", unload());
                break;
            case "read":
                read(answer);
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void start(int entries, int interval) throws Exception {
        broker = new WholeBroker(configuration -> {
            configuration.setBrokerDeduplicationEnabled(true);
            configuration.setBrokerDeduplicationSnapshotFrequencyInSeconds(1);
            configuration.setBrokerDeduplicationSnapshotIntervalSeconds(interval);
            configuration.setManagedLedgerMaxEntriesPerLedger(entries);
            configuration.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
            configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName());
        });
        client = PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl())
                .startingBackoffInterval(100, TimeUnit.MILLISECONDS).maxBackoffInterval(1, TimeUnit.SECONDS).build();
        // a subscription keeps what is acknowledged
        client.newConsumer(Schema.INT32).topic(TOPIC).subscriptionName("s").subscribe().close();
        producer = client.newProducer(Schema.INT32).topic(TOPIC).producerName("p").enableBatching(false)
                .sendTimeout(0, TimeUnit.SECONDS).create();
    }

    private PersistentTopic topic() throws Exception {
        return (PersistentTopic) broker.pulsar.getBrokerService().getTopicIfExists(TOPIC).get(SECONDS, TimeUnit.SECONDS).get();
    }

    private ManagedCursor deduplication() throws Exception {
        for (ManagedCursor cursor : topic().getManagedLedger().getCursors()) {
            if (cursor.getName().equals(DEDUPLICATION)) {
                return cursor;
            }
        }
        throw new IllegalStateException("the topic has no deduplication");
    }

    /** The last confirmed entry if the broker's timer marks its snapshot there within that time; empty if it does not. */
    private String snapshot(int seconds) throws Exception {
        ManagedLedger ledger = topic().getManagedLedger();
        ManagedCursor cursor = deduplication();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end) {
            if (ledger.getLastConfirmedEntry().equals(cursor.getPersistentMarkDeletedPosition())) {
                return cursor.getPersistentMarkDeletedPosition().toString();
            }
            Thread.sleep(50);
        }
        return "";
    }

    /** A message that fills its ledger, which cannot be closed while ZooKeeper does not answer. */
    private void fill() throws Exception {
        ManagedLedger ledger = topic().getManagedLedger();
        long entry = ledger.getLastConfirmedEntry().getEntryId() + 1;
        last = producer.sendAsync(sent++);
        Server.until("the entry to be confirmed", () -> ledger.getLastConfirmedEntry().getEntryId() == entry);
    }

    /**
     * The topic is unloaded; ZooKeeper answers again as soon as its producer is disconnected. Returns the id of the message that
     * was not answered before.
     */
    private String unload() throws Exception {
        PersistentTopic topic = topic();
        var unloading = broker.pulsar.getAdminClient().topics().unloadAsync(TOPIC);
        Server.until("the producer to be disconnected", () -> topic.getProducers().isEmpty());
        broker.link.mend();
        unloading.get(SECONDS, TimeUnit.SECONDS);
        return last.get(SECONDS, TimeUnit.SECONDS).toString();
    }

    /** How many messages a reader gets, and how many of them twice. */
    private void read(ObjectNode answer) throws Exception {
        Map<Integer, MessageId> got = new HashMap<>();
        var twice = answer.putArray("positions_of_twice");
        int read = 0;
        try (Reader<Integer> reader = client.newReader(Schema.INT32).topic(TOPIC).startMessageId(MessageId.earliest).create()) {
            while (reader.hasMessageAvailable()) {
                Message<Integer> next = reader.readNext(SECONDS, TimeUnit.SECONDS);
                read++;
                MessageId before = got.putIfAbsent(next.getValue(), next.getMessageId());
                if (before != null) {
                    twice.add(before + " and " + next.getMessageId());
                }
            }
        }
        answer.put("sent", sent);
        answer.put("read", read);
        answer.put("twice", twice.size());
    }

    @Override
    public void close() throws Exception {
        if (broker != null) {
            broker.close();
        }
    }
}
