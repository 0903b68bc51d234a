package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.mledger.AsyncCallbacks;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.pulsar.common.migration.MigrationPhase;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.bookkeeper.BKCluster;
import org.apache.pulsar.metadata.coordination.impl.Link;

/**
 * The managed ledgers of several brokers for one topic while the metadata are migrated from one ZooKeeper to another; the bookie
 * and the ledgers have a ZooKeeper of their own.
 */
public final class MissedMigrationBench implements Lines.Target {
    private static final String TOPIC = "t/n/persistent/x";
    private static final int BATCH = 100;
    private static final int ANSWER_SECONDS = 15;
    private static final int SESSION_MILLIS = 30_000;

    private final Server ledgers = new Server();
    private final Server source = new Server();
    private final Server target = new Server();
    private final Link link = new Link(source.port());
    private final Migration migration = new Migration(source, target);
    private final Map<String, Broker> brokers = new HashMap<>();
    private int next;

    /** A broker: its metadata store, and the topic once it is open. */
    private static final class Broker {
        final MetadataStoreExtended store;
        ManagedLedger topic;

        Broker(String metadata) throws Exception {
            store = MetadataStoreExtended.create(metadata, MetadataStoreConfig.builder().sessionTimeoutMillis(SESSION_MILLIS).build());
        }
    }

    private MissedMigrationBench() throws Exception {
        BKCluster.builder().baseServerConfiguration(WholeBroker.bookie()).metadataServiceUri("zk:127.0.0.1:" + ledgers.port())
                .numBookies(1).dataDir(Folders.fresh("bookie").getPath()).build();
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(MissedMigrationBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        String name = request.path("broker").asText();
        switch (request.get("do").asText()) {
            case "start":
                // the first one's requests pass the link; another that starts later reads where the migration is
                brokers.put(name, new Broker("zk:" + (brokers.isEmpty() ? link.address() : "127.0.0.1:" + source.port())));
                break;
            case "open":
                open(brokers.get(name));
                break;
            case "add":
                add(brokers.get(name), answer);
                break;
            case "read":
                read(brokers.get(name), answer);
                break;
            case "cut":
                link.cut();
                for (long session : new HashSet<>(source.sessions())) {
                    if (session != migration.session()) {
                        source.expire(session);
                    }
                }
                break;
            case "mend":
                link.mend();
                Server.until("connection of the broker", () -> isConnected(brokers.get(name)));
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
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    /** As a broker opens the topic, for the first time or after it was closed because of a failure. */
    private void open(Broker broker) throws Exception {
        var configuration = new ClientConfiguration();
        configuration.setMetadataServiceUri("metadata-store:zk:127.0.0.1:" + ledgers.port());
        var settings = new ManagedLedgerConfig();
        settings.setEnsembleSize(1).setWriteQuorumSize(1).setAckQuorumSize(1);
        broker.topic = new ManagedLedgerFactoryImpl(broker.store, new BookKeeper(configuration)).open(TOPIC, settings);
    }

    /** One more message: its name, and where it is stored if it is acknowledged, else why it is not. */
    private void add(Broker broker, ObjectNode answer) throws Exception {
        String message = "m" + next++;
        answer.put("message", message);
        var done = new CompletableFuture<String>();
        broker.topic.asyncAddEntry(message.getBytes(StandardCharsets.UTF_8), new AsyncCallbacks.AddEntryCallback() {
            @Override
            public void addComplete(Position position, ByteBuf entry, Object context) {
                done.complete(position.toString());
            }

            @Override
            public void addFailed(ManagedLedgerException e, Object context) {
                done.completeExceptionally(e);
            }
        }, null);
        try {
            answer.put("position", done.get(ANSWER_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            answer.put("refused", e.getCause().toString());
        } catch (TimeoutException e) {
            answer.put("refused", "no answer within " + ANSWER_SECONDS + " s");
        }
    }

    private static void read(Broker broker, ObjectNode answer) throws Exception {
        var messages = answer.putArray("messages");
        ManagedCursor cursor = broker.topic.newNonDurableCursor(PositionFactory.EARLIEST);
        while (cursor.hasMoreEntries()) {
            List<Entry> entries = cursor.readEntries(BATCH);
            if (entries.isEmpty()) {
                break;
            }
            for (Entry entry : entries) {
                messages.add(new String(entry.getData(), StandardCharsets.UTF_8));
                entry.release();
            }
        }
    }

    private static boolean isConnected(Broker broker) throws InterruptedException {
        try {
            broker.store.sync("/").get(1, TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    @Override
    public void close() throws Exception {
        link.close();
        for (Server server : new Server[] {ledgers, source, target}) {
            server.close();
        }
    }
}
