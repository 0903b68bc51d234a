package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.pulsar.common.migration.MigrationPhase;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.bookkeeper.BKCluster;

/** The managed ledger of a topic with a subscription, while the metadata of the topic, its ledgers and the bookie are migrated. */
public final class RestartedIdsBench implements Lines.Target {
    private static final String TOPIC = "t/n/persistent/x";
    private static final String SUBSCRIPTION = "s";
    private static final int BATCH = 100;
    private static final int ENTRIES = 2;
    private static final int SECONDS = 30;
    private static final int SESSION_MILLIS = 30_000;

    private final Server source = new Server();
    private final Server target = new Server();
    private final Migration migration = new Migration(source, target);
    private final BookKeeper client;
    private final MetadataStoreExtended store;
    private final ManagedLedgerFactoryImpl factory;
    private ManagedLedger topic;
    private ManagedCursor cursor;
    private int next;

    private RestartedIdsBench() throws Exception {
        String metadata = "zk:127.0.0.1:" + source.port();
        BKCluster.builder().baseServerConfiguration(WholeBroker.bookie()).metadataServiceUri(metadata)
                .numBookies(1).dataDir(Folders.fresh("bookie").getPath()).build();
        var configuration = new ClientConfiguration();
        configuration.setMetadataServiceUri("metadata-store:" + metadata);
        client = new BookKeeper(configuration);
        store = MetadataStoreExtended.create(metadata, MetadataStoreConfig.builder().sessionTimeoutMillis(SESSION_MILLIS).build());
        factory = new ManagedLedgerFactoryImpl(store, client);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(RestartedIdsBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "use":
                use(request.get("ledgers").asInt(), answer);
                break;
            case "open":
                open();
                break;
            case "add":
                answer.put("message", "m" + next);
                answer.put("position", topic.addEntry(("m" + next++).getBytes(StandardCharsets.UTF_8)).toString());
                break;
            case "take":
                take(answer);
                break;
            case "trim":
                var trimmed = new CompletableFuture<Void>();
                topic.trimConsumedLedgersInBackground(trimmed);
                trimmed.get(SECONDS, TimeUnit.SECONDS);
                break;
            case "look":
                topic.getLedgersInfo().keySet().forEach(answer.putArray("ledgers")::add);
                answer.put("backlog", cursor.getNumberOfEntriesInBacklog(true));
                break;
            case "place":
                migration.place(request.get("path").asText());
                break;
            case "phase":
                migration.write(MigrationPhase.valueOf(request.get("phase").asText()));
                break;
            case "pending":
                answer.put("participants", migration.participants());
                break;
            case "copy":
                migration.copy();
                break;
            case "writable":
                answer.put("done", isWritable());
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    /** Ledgers of other topics, which are created and deleted again. */
    private void use(int ledgers, ObjectNode answer) throws Exception {
        for (int i = 0; i < ledgers; i++) {
            var handle = client.createLedger(1, 1, 1, BookKeeper.DigestType.CRC32C, new byte[0]);
            handle.close();
            client.deleteLedger(handle.getId());
            answer.put("last", handle.getId());
        }
    }

    /** Whether both the topic's and the client's metadata store have heard of the end of the migration. */
    private boolean isWritable() throws Exception {
        try {
            store.put("/written", new byte[0], Optional.empty()).get(SECONDS, TimeUnit.SECONDS);
            client.deleteLedger(client.createLedger(1, 1, 1, BookKeeper.DigestType.CRC32C, new byte[0]).getId());
            return true;
        } catch (ExecutionException | BKException e) {
            return false;
        }
    }

    /** As a broker opens the topic, for the first time or after it was unloaded; what is consumed by all is not retained. */
    private void open() throws Exception {
        if (topic != null) {
            topic.close();
        }
        var settings = new ManagedLedgerConfig();
        settings.setEnsembleSize(1).setWriteQuorumSize(1).setAckQuorumSize(1);
        settings.setMaxEntriesPerLedger(ENTRIES).setMinimumRolloverTime(0, TimeUnit.SECONDS);
        topic = factory.open(TOPIC, settings);
        cursor = topic.openCursor(SUBSCRIPTION);
    }

    /** What the subscription gets, and acknowledges. */
    private void take(ObjectNode answer) throws Exception {
        var messages = answer.putArray("messages");
        while (cursor.hasMoreEntries()) {
            List<Entry> entries = cursor.readEntries(BATCH);
            if (entries.isEmpty()) {
                break;
            }
            for (Entry entry : entries) {
                messages.add(new String(entry.getData(), StandardCharsets.UTF_8));
                cursor.delete(entry.getPosition());
                entry.release();
            }
        }
    }

    @Override
    public void close() {
        source.close();
        target.close();
    }
}
