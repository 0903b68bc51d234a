package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.common.policies.data.TenantInfo;

/** A topic that is replicated to another cluster, and what a reader gets there. */
public final class ClustersBench implements Lines.Target {
    private static final String OTHER = "d";
    private static final String NAMESPACE = WholeBroker.TENANT + "/copied";
    private static final String TOPIC = "persistent://" + NAMESPACE + "/x";
    private static final int SECONDS = 120;

    private WholeBroker source;
    private WholeBroker target;
    private PulsarClient client;
    private PulsarClient reading;
    private int sent;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(ClustersBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "start":
                source = new WholeBroker(ClustersBench::common);
                break;
            case "start_other":
                startOther(request.get("deduplication").asBoolean());
                break;
            case "connect":
                connect();
                break;
            case "send":
                send(request.get("producer").asText(), request.get("bytes"));
                break;
            case "limit":
                limit(request.get("bytes").asInt());
                break;
            case "received":
                answer.put("messages", target.pulsar.getAdminClient().topics().getStats(TOPIC).getMsgInCounter());
                break;
            case "backlog":
                answer.put("messages", source.pulsar.getAdminClient().topics().getStats(TOPIC).getReplication().get(OTHER)
                        .getReplicationBacklog());
                break;
            case "read":
                read(answer);
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    private void startOther(boolean deduplication) throws Exception {
        target = new WholeBroker(OTHER, configuration -> {
            common(configuration);
            configuration.setBrokerDeduplicationEnabled(deduplication);
        });
    }

    private static void common(ServiceConfiguration configuration) {
        configuration.setLoadManagerClassName(ModularLoadManagerImpl.class.getName());
        configuration.setSystemTopicEnabled(true);
        configuration.setTopicLevelPoliciesEnabled(true);
    }

    /** The namespace is in both clusters, and its topics are replicated from the one to the other. */
    private void connect() throws Exception {
        target.pulsar.getAdminClient().namespaces().createNamespace(NAMESPACE, Set.of(OTHER));
        var both = Set.of(WholeBroker.CLUSTER, OTHER);
        var admin = source.pulsar.getAdminClient();
        admin.clusters().createCluster(OTHER, target.data());
        admin.tenants().updateTenant(WholeBroker.TENANT, TenantInfo.builder().allowedClusters(both).build());
        admin.namespaces().createNamespace(NAMESPACE, both);
        client = PulsarClient.builder().serviceUrl(source.pulsar.getBrokerServiceUrl()).build();
        reading = PulsarClient.builder().serviceUrl(target.pulsar.getBrokerServiceUrl()).build();
        admin.topics().createNonPartitionedTopic(TOPIC);
        // a subscription keeps what is acknowledged
        reading.newConsumer().topic(TOPIC).subscriptionName("s").subscribe().close();
    }

    /** A producer that starts, sends messages of these sizes without a pause, waits until they are acknowledged, and ends. */
    private void send(String name, JsonNode sizes) throws Exception {
        try (Producer<byte[]> producer = client.newProducer().topic(TOPIC).producerName(name).enableBatching(false).create()) {
            List<CompletableFuture<MessageId>> sends = new ArrayList<>();
            for (JsonNode size : sizes) {
                sends.add(producer.newMessage().key("m" + sent++).value(new byte[size.asInt()]).sendAsync());
            }
            for (CompletableFuture<MessageId> each : sends) {
                each.get(SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    /** From the return on both clusters refuse messages of the topic that are larger, whoever sends them. */
    private void limit(int bytes) throws Exception {
        for (WholeBroker each : List.of(target, source)) {
            each.pulsar.getAdminClient().topicPolicies().setMaxMessageSize(TOPIC, bytes);
            var topic = each.pulsar.getBrokerService().getTopicReference(TOPIC).orElseThrow();
            Server.until("limit of the topic", () -> topic.getHierarchyTopicPolicies().getTopicMaxMessageSize().get() == bytes);
        }
    }

    private void read(ObjectNode answer) throws Exception {
        var messages = answer.putArray("messages");
        try (Reader<byte[]> reader = reading.newReader().topic(TOPIC).startMessageId(MessageId.earliest).create()) {
            while (reader.hasMessageAvailable()) {
                messages.add(reader.readNext(SECONDS, TimeUnit.SECONDS).getKey());
            }
        }
    }

    @Override
    public void close() throws Exception {
        if (source != null) {
            source.close();
        }
        if (target != null) {
            target.close();
        }
    }
}
