package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.client.api.PulsarClient;

/** Producers that send to topics of a whole broker while its session is lost, and what readers get afterwards. */
public final class TopicsBench implements Lines.Target {
    private static final int ANSWER_SECONDS = 30;

    private WholeBroker broker;
    private final List<Stream> halted = new ArrayList<>();
    private List<Stream> streams = new ArrayList<>();
    private FailureLog failures;
    private Timings timings;
    private int round;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(TopicsBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                start(request);
                break;
            case "send":
                send(request.get("topics").asInt());
                break;
            case "expire":
                broker.expire();
                break;
            case "cut":
                broker.link.cut();
                Thread.sleep(request.get("millis").asInt());
                broker.link.mend();
                break;
            case "stop":
                halt();
                account(answer, halted.size());
                break;
            case "time":
                failures = new FailureLog();
                timings = new Timings(broker.pulsar);
                break;
            case "halt":
                halt();
                break;
            case "timed":
                failures.tell(answer);
                timings.tell(answer);
                break;
            case "account":
                account(answer, request.get("topics").asInt());
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void start(JsonNode request) throws Exception {
        broker = new WholeBroker(configuration -> {
            configuration.setBrokerDeduplicationEnabled(request.get("deduplication").asBoolean());
            configuration.setManagedLedgerMaxEntriesPerLedger(request.get("entries").asInt());
            configuration.setManagedLedgerMinLedgerRolloverTimeMinutes(0);
            configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName());
            configuration.setNumIOThreads(request.path("threads").asInt(1));
            configuration.setMaxPendingPublishRequestsPerConnection(request.path("pending").asInt(1000));
        });
    }

    /** New topics, each with a producer that sends as fast as the broker takes it, all of them on one new connection. */
    private void send(int topics) throws Exception {
        // one of before may owe answers for good, and be throttled by them
        PulsarClient client = client();
        streams = new ArrayList<>();
        round++;
        for (int number = 0; number < topics; number++) {
            streams.add(new Stream(client, "persistent://" + WholeBroker.NAMESPACE + "/x" + round + "-" + number));
        }
        for (Stream stream : streams) {
            stream.start();
        }
    }

    private PulsarClient client() throws Exception {
        return PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl())
                .startingBackoffInterval(100, TimeUnit.MILLISECONDS).maxBackoffInterval(1, TimeUnit.SECONDS).build();
    }

    /** The producers stop, and nothing is read yet. */
    private void halt() throws Exception {
        for (Stream stream : streams) {
            stream.stop();
        }
        halted.addAll(streams);
        streams = new ArrayList<>();
    }

    /** What the first so many that have stopped sent, what was acknowledged, and what a reader gets. */
    private void account(ObjectNode answer, int topics) throws Exception {
        var total = new Stream.Account();
        var lost = answer.putArray("lost_ranges");
        // a broker may owe some of them answers for good
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS);
        try (PulsarClient reading = client()) {
            for (Stream stream : halted.subList(0, topics)) {
                stream.account(total, reading, deadline).forEach(lost::add);
            }
        }
        halted.subList(0, topics).clear();
        answer.put("sent", total.sent);
        answer.put("acknowledged", total.acknowledged);
        answer.put("read", total.read);
        answer.put("lost", total.lost);
        answer.put("lost_as_duplicates", total.lostAsDuplicates);
        answer.put("out_of_order", total.outOfOrder);
        answer.put("twice", total.twice);
    }

    @Override
    public void close() throws Exception {
        if (broker != null) {
            broker.close();
        }
    }
}
