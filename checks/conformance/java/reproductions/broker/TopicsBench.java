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
    private WholeBroker broker;
    private PulsarClient client;
    private List<Stream> streams = new ArrayList<>();
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
                stop(answer);
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
        });
        client = PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl())
                .startingBackoffInterval(100, TimeUnit.MILLISECONDS).maxBackoffInterval(1, TimeUnit.SECONDS).build();
    }

    /** New topics, each with a producer that sends as fast as the broker takes it. */
    private void send(int topics) throws Exception {
        streams = new ArrayList<>();
        round++;
        for (int number = 0; number < topics; number++) {
            streams.add(new Stream(client, "persistent://" + WholeBroker.NAMESPACE + "/x" + round + "-" + number));
        }
        for (Stream stream : streams) {
            stream.start();
        }
    }

    /** What all of them sent, what was acknowledged, and what a reader gets. */
    private void stop(ObjectNode answer) throws Exception {
        for (Stream stream : streams) {
            stream.stop();
        }
        var total = new Stream.Account();
        var lost = answer.putArray("lost_ranges");
        for (Stream stream : streams) {
            stream.account(total).forEach(lost::add);
        }
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
