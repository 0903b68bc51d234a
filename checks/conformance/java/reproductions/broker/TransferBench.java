package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateChannelImpl;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateMetadataStoreTableViewImpl;
import org.apache.pulsar.broker.loadbalance.extensions.models.Unload;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.TopicName;

/** A bundle that is transferred to a broker which is dead by then, and whether its topic can be written to afterwards. */
public final class TransferBench implements Lines.Target {
    private static final String TOPIC = "persistent://" + WholeBroker.NAMESPACE + "/x";
    /** On a machine that has other work. */
    private static final int SECONDS = 120;
    /** So long a producer is waited for that may never be able to send. */
    private static final int LOOK_SECONDS = 10;

    private WholeBroker broker;
    private PulsarClient client;
    private PulsarClient looking;
    private Producer<String> producer;
    private NamespaceBundle bundle;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(TransferBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                start(request.get("multi_phase").asBoolean());
                break;
            case "send":
                answer.put("acknowledged", sent(producer));
                break;
            case "owner":
                answer.put("owned_here", isOwnedHere());
                break;
            case "transfer":
                var unload = new Unload(broker.pulsar.getBrokerId(), bundle.toString(), Optional.of(request.get("to").asText()), false);
                channel().publishUnloadEventAsync(unload).get(SECONDS, TimeUnit.SECONDS);
                break;
            case "look":
                look(answer);
                break;
            case "unload":
                broker.pulsar.getAdminClient().namespaces()
                        .unloadNamespaceBundleAsync(WholeBroker.NAMESPACE, bundle.getBundleRange()).get(SECONDS, TimeUnit.SECONDS);
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void start(boolean multiPhase) throws Exception {
        broker = new WholeBroker(configuration -> {
            configuration.setLoadManagerClassName(ExtensibleLoadManagerImpl.class.getName());
            configuration.setLoadManagerServiceUnitStateTableViewClassName(
                    ServiceUnitStateMetadataStoreTableViewImpl.class.getName());
            configuration.setLoadBalancerMultiPhaseBundleUnload(multiPhase);
            // the monitor finds the dead destination sooner
            configuration.setLoadBalancerServiceUnitStateMonitorIntervalInSeconds(5);
        });
        client = client(SECONDS);
        looking = client(LOOK_SECONDS);
        producer = producer(client);
        bundle = broker.pulsar.getNamespaceService().getBundle(TopicName.get(TOPIC));
    }

    private ServiceUnitStateChannelImpl channel() {
        return (ServiceUnitStateChannelImpl) ExtensibleLoadManagerImpl.get(broker.pulsar).getServiceUnitStateChannel();
    }

    private PulsarClient client(int seconds) throws PulsarClientException {
        return PulsarClient.builder().serviceUrl(broker.pulsar.getBrokerServiceUrl()).operationTimeout(seconds, TimeUnit.SECONDS)
                .build();
    }

    private static Producer<String> producer(PulsarClient client) throws PulsarClientException {
        return client.newProducer(Schema.STRING).topic(TOPIC).sendTimeout(LOOK_SECONDS, TimeUnit.SECONDS).enableBatching(false)
                .create();
    }

    /** The id of a message that is acknowledged; null if it is not. */
    private static String sent(Producer<String> producer) {
        try {
            return producer.send("message").toString();
        } catch (PulsarClientException e) {
            return null;
        }
    }

    private boolean isOwnedHere() throws Exception {
        var owner = channel().getOwnerAsync(bundle.toString()).get(SECONDS, TimeUnit.SECONDS);
        return owner.equals(Optional.of(broker.pulsar.getBrokerId()));
    }

    /** Whether a producer that was there and a new one can send. */
    private void look(ObjectNode answer) {
        answer.put("producer", sent(producer) != null);
        boolean fresh = false;
        try (Producer<String> another = producer(looking)) {
            fresh = sent(another) != null;
        } catch (PulsarClientException e) {
            // it is not taken on
        }
        answer.put("new_producer", fresh);
    }

    @Override
    public void close() throws Exception {
        if (broker != null) {
            broker.close();
        }
    }
}
