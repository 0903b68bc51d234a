package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Reader;

/** A topic whose update of the list of ledgers is slow, and what a reader gets when the topic is loaded again. */
public final class ListingBench implements Lines.Target {
    private static final String TOPIC = "persistent://" + WholeBroker.NAMESPACE + "/x";
    private static final String LIST = "/managed-ledgers/" + WholeBroker.NAMESPACE + "/persistent/x";
    private static final int SECONDS = 120;
    private static final int PAUSE_MILLIS = 50;
    private static final int MORE = 5;
    private static final int SESSION_MILLIS = 300_000;

    private WholeBroker broker;
    private PulsarClient client;
    private Producer<byte[]> producer;
    private CompletableFuture<MessageId> last;
    private long creation;
    private final List<Integer> trials = new ArrayList<>();
    private String topic = TOPIC;
    private int entries;
    private int sent;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ListingBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                start(request.get("entries").asInt(), request.get("timeout").asInt());
                break;
            case "send":
                send();
                answer.put("id", last.get(SECONDS, TimeUnit.SECONDS).toString());
                break;
            case "fill":
                broker.link.hold(LIST);
                send();
                answer.put("id", last.get(SECONDS, TimeUnit.SECONDS).toString());
                Server.until("update of the list to be under way", broker.link::isHolding);
                creation = creation();
                break;
            case "trial":
                trial(request.path("millis").asInt(-1), answer);
                break;
            case "account":
                account(answer);
                break;
            case "late":
                send();
                answer.put("second_creation", becomes(() -> creation() != creation, request.get("seconds").asInt()));
                break;
            case "release":
                broker.link.release();
                answer.put("id", last.get(SECONDS, TimeUnit.SECONDS).toString());
                break;
            case "settled":
                answer.put("done", becomes(() -> ledger().getLedgersInfo().size() == request.get("ledgers").asInt()
                        && ledger().getState() == ManagedLedgerImpl.State.LedgerOpened, SECONDS));
                break;
            case "list":
                var list = answer.putObject("entries");
                ledger().getLedgersInfo().forEach((id, info) -> list.put(String.valueOf(id), info.getEntries()));
                break;
            case "unload":
                broker.pulsar.getAdminClient().topics().unloadAsync(TOPIC).get(SECONDS, TimeUnit.SECONDS);
                break;
            case "read":
                read(answer);
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void start(int entries, int timeout) throws Exception {
        this.entries = entries;
        broker = new WholeBroker(configuration -> {
            configuration.setManagedLedgerMaxEntriesPerLedger(entries);
            configuration.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
            configuration.setManagedLedgerMetadataOperationsTimeoutSeconds(timeout);
            // what is held back ends no session
            configuration.setMetadataStoreSessionTimeoutMillis(SESSION_MILLIS);
            configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName());
        });
        client = PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl())
                .startingBackoffInterval(100, TimeUnit.MILLISECONDS).maxBackoffInterval(1, TimeUnit.SECONDS).build();
        // a subscription keeps what is acknowledged
        client.newConsumer().topic(TOPIC).subscriptionName("s").subscribe().close();
        producer = client.newProducer().topic(TOPIC).enableBatching(false).sendTimeout(0, TimeUnit.SECONDS).create();
    }

    /**
     * Holds the update that lists a new topic's second ledger for so many milliseconds, or, if that is negative, until a second
     * creation begins, while a producer goes on; then it is let go, and the topic unloaded.
     */
    private void trial(int millis, ObjectNode answer) throws Exception {
        topic = TOPIC + trials.size();
        client.newConsumer().topic(topic).subscriptionName("s").subscribe().close();
        producer = client.newProducer().topic(topic).enableBatching(false).sendTimeout(0, TimeUnit.SECONDS).create();
        List<CompletableFuture<MessageId>> sends = new ArrayList<>();
        for (sent = 0; sent < entries; sends.add(last)) {
            if (sent == entries - 1) {
                broker.link.hold(LIST + trials.size());
            }
            send();
            within(last, "message " + sent + " of the first ledger");
        }
        Server.until("update of the list to be under way", broker.link::isHolding);
        long begun = System.nanoTime();
        creation = creation();
        while (millis < 0 ? creation() == creation : System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(millis)) {
            send();
            sends.add(last);
            Thread.sleep(PAUSE_MILLIS);
        }
        answer.put("second_creation", (System.nanoTime() - begun) / 1e6);
        broker.link.release();
        for (int more = 0; more < MORE; more++) {
            send();
            sends.add(last);
        }
        for (int number = 0; number < sends.size(); number++) {
            within(sends.get(number), "message " + (number + 1) + " of " + sends.size());
        }
        producer.close();
        within(broker.pulsar.getAdminClient().topics().unloadAsync(topic), "unload of the topic");
        trials.add(sent);
    }

    /** Of each trial how many messages were acknowledged, and how many of them a reader gets. */
    private void account(ObjectNode answer) throws Exception {
        var acknowledged = answer.putArray("acknowledged");
        var read = answer.putArray("read");
        for (int number = 0; number < trials.size(); number++) {
            topic = TOPIC + number;
            ObjectNode got = Lines.JSON.createObjectNode();
            read(got);
            acknowledged.add(trials.get(number));
            read.add(got.get("messages").size());
        }
    }

    private static <T> T within(CompletableFuture<T> future, String what) throws Exception {
        try {
            return future.get(SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new TimeoutException(what + " is not done within " + SECONDS + " s");
        }
    }

    private void send() {
        last = producer.sendAsync(("m" + sent++).getBytes(StandardCharsets.UTF_8));
    }

    private ManagedLedgerImpl ledger() throws Exception {
        var loaded = broker.pulsar.getBrokerService().getTopicIfExists(topic).get(SECONDS, TimeUnit.SECONDS).get();
        return (ManagedLedgerImpl) ((PersistentTopic) loaded).getManagedLedger();
    }

    /** When the topic's last creation of a ledger began. */
    private long creation() throws Exception {
        Field field = ManagedLedgerImpl.class.getDeclaredField("lastLedgerCreationInitiationTimestamp");
        field.setAccessible(true);
        return field.getLong(ledger());
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static boolean becomes(Condition condition, int seconds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(1);
        }
        return true;
    }

    private void read(ObjectNode answer) throws Exception {
        var messages = answer.putObject("messages");
        try (Reader<byte[]> reader = client.newReader().topic(topic).startMessageId(MessageId.earliest).create()) {
            while (reader.hasMessageAvailable()) {
                Message<byte[]> next = reader.readNext(SECONDS, TimeUnit.SECONDS);
                messages.put(new String(next.getValue(), StandardCharsets.UTF_8), next.getMessageId().toString());
            }
        }
    }

    @Override
    public void close() throws Exception {
        if (broker != null) {
            broker.close();
        }
    }
}
