package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedger;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;
import org.apache.pulsar.metadata.bookkeeper.BKCluster;

/** The managed ledgers of several brokers for one topic, each with its own client of ZooKeeper and BookKeeper. */
public final class LedgersBench implements Lines.Target {
    private static final String TOPIC = "t/n/persistent/x";
    private static final int BATCH = 100;

    private final Server zookeeper = new Server();
    private final String metadata = "zk:127.0.0.1:" + zookeeper.port();
    private final Map<String, ManagedLedger> ledgers = new HashMap<>();
    private int next;

    private LedgersBench() throws Exception {
        BKCluster.builder().baseServerConfiguration(WholeBroker.bookie()).metadataServiceUri(metadata)
                .numBookies(1).dataDir(Folders.fresh("bookie").getPath()).build();
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(LedgersBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        String broker = request.get("broker").asText();
        switch (request.get("do").asText()) {
            case "open":
                ledgers.put(broker, opened());
                break;
            case "add":
                answer.put("acknowledged", added(ledgers.get(broker), request.get("entries").asInt(), answer));
                break;
            case "delete":
                ledgers.get(broker).delete();
                break;
            case "read":
                answer.put("read", read(ledgers.get(broker)));
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    /** As another broker opens the topic. */
    private ManagedLedger opened() throws Exception {
        var configuration = new ClientConfiguration();
        configuration.setMetadataServiceUri("metadata-store:" + metadata);
        MetadataStoreExtended store = MetadataStoreExtended.create(metadata, MetadataStoreConfig.builder().build());
        var settings = new ManagedLedgerConfig();
        settings.setEnsembleSize(1).setWriteQuorumSize(1).setAckQuorumSize(1);
        return new ManagedLedgerFactoryImpl(store, new BookKeeper(configuration)).open(TOPIC, settings);
    }

    /** How many entries are acknowledged; the positions of the first and the last of them are in the answer. */
    private int added(ManagedLedger ledger, int entries, ObjectNode answer) throws Exception {
        for (int entry = 0; entry < entries; entry++) {
            try {
                String position = ledger.addEntry(("m" + next).getBytes(StandardCharsets.UTF_8)).toString();
                if (entry == 0) {
                    answer.put("first", position);
                }
                answer.put("last", position);
                next++;
            } catch (ManagedLedgerException e) {
                return entry;
            }
        }
        return entries;
    }

    /** How many entries a reader gets from the earliest on. */
    private static int read(ManagedLedger ledger) throws Exception {
        ManagedCursor cursor = ledger.newNonDurableCursor(PositionFactory.EARLIEST);
        int count = 0;
        while (cursor.hasMoreEntries()) {
            List<Entry> entries = cursor.readEntries(BATCH);
            if (entries.isEmpty()) {
                break;
            }
            count += entries.size();
            entries.forEach(Entry::release);
        }
        return count;
    }

    @Override
    public void close() {
        zookeeper.close();
    }
}
