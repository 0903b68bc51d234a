package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;

/** A topic that is loaded while a read of its metadata is not answered, and whether it is served afterwards. */
public final class LoadingBench implements Lines.Target {
    private static final String TOPIC = "persistent://" + WholeBroker.NAMESPACE + "/x";
    private static final String LIST = "/managed-ledgers/" + WholeBroker.NAMESPACE + "/persistent/x";
    private static final int SECONDS = 120;
    /** So long a producer is waited for that may never be able to send. */
    private static final int LOOK_SECONDS = 10;

    private WholeBroker broker;
    private PulsarClient client;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(LoadingBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                start(request.get("timeout").asInt());
                break;
            case "silence":
                broker.pulsar.getAdminClient().topics().unloadAsync(TOPIC).get(SECONDS, TimeUnit.SECONDS);
                SilentStore.silence(LIST);
                break;
            case "silent":
                answer.put("read", SilentStore.isSilent());
                break;
            case "answer":
                SilentStore.answer();
                break;
            case "look":
                answer.put("refusal", refusal());
                break;
            case "unload":
                broker.pulsar.getAdminClient().namespaces().unload(WholeBroker.NAMESPACE);
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void start(int timeout) throws Exception {
        broker = new WholeBroker(configuration -> {
            configuration.setMetadataStoreUrl(SilentStore.url(configuration.getMetadataStoreUrl()));
            configuration.setTopicLoadTimeoutSeconds(timeout);
            configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName());
        });
        client = PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl())
                .operationTimeout(LOOK_SECONDS, TimeUnit.SECONDS).build();
    }

    /** Why a new producer cannot send; empty if it can. */
    private String refusal() {
        try (Producer<byte[]> producer = client.newProducer().topic(TOPIC).sendTimeout(LOOK_SECONDS, TimeUnit.SECONDS).create()) {
            producer.send(new byte[0]);
            return "";
        } catch (PulsarClientException e) {
            return e.getMessage();
        }
    }

    @Override
    public void close() throws Exception {
        if (broker != null) {
            broker.close();
        }
    }
}
