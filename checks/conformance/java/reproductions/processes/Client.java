package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.bookkeeper.util.StringUtils;
import org.apache.bookkeeper.zookeeper.ZooKeeperClient;
import org.apache.zookeeper.ZooKeeper;

/** A client of a real cluster, which does what each line says. */
public final class Client implements Lines.Target {
    private static final byte[] PASSWORD = "password".getBytes(StandardCharsets.UTF_8);
    private static final int WAIT_SECONDS = 90;
    private static final int PAUSE_MILLIS = 200;

    private final String metadata;
    private BookKeeper client;
    private LedgerHandle held;
    private byte[] spoilt;

    private Client(String metadata) {
        this.metadata = metadata;
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(() -> new Client(arguments[0]));
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("do").asText()) {
            case "format":
                ServerConfiguration conf = new ServerConfiguration();
                conf.setMetadataServiceUri(metadata);
                answer.put("done", BookKeeperAdmin.initNewCluster(conf));
                break;
            case "wait":
                answer.put("bookies", waited(request.get("bookies").asInt()));
                break;
            case "create":
                int copies = request.path("copies").asInt(3);
                int quorum = request.path("quorum").asInt(copies / 2 + 1);
                held = client().createLedger(copies, copies, quorum, BookKeeper.DigestType.CRC32C, PASSWORD);
                answer.put("ledger", held.getId());
                break;
            case "write":
                write(request.get("bytes").asInt(), answer);
                break;
            case "add":
                add(request.path("bytes").asInt(5), answer);
                break;
            case "recover":
                LedgerHandle opened = client().openLedger(request.get("ledger").asLong(), BookKeeper.DigestType.CRC32C, PASSWORD);
                answer.put("state", opened.getLedgerMetadata().getState().toString());
                answer.put("last", opened.getLastAddConfirmed());
                opened.close();
                break;
            case "close":
                held.close();
                break;
            case "delete":
                client().deleteLedger(request.get("ledger").asLong());
                break;
            case "ensembles":
                var ensembles = answer.putArray("ensembles");
                try (LedgerHandle found = seen(request)) {
                    for (var ensemble : found.getLedgerMetadata().getAllEnsembles().values()) {
                        var bookies = ensembles.addArray();
                        ensemble.forEach(each -> bookies.add(each.toString()));
                    }
                }
                break;
            case "read":
                try (LedgerHandle found = seen(request)) {
                    answer.put("read", read(found));
                }
                break;
            case "spoil":
                metadata(request, new byte[] {0});
                break;
            case "mend":
                metadata(request, spoilt);
                break;
            case "audited":
                answer.put("audited", hasAudited());
                break;
            default:
                throw new IllegalArgumentException("unknown request " + request);
        }
    }

    /** What the metadata store has of the ledger is replaced, and kept. */
    private void metadata(JsonNode request, byte[] with) throws Exception {
        URI uri = URI.create(metadata.replace("zk+hierarchical", "zk"));
        String path = uri.getPath() + StringUtils.getHybridHierarchicalLedgerPath(request.get("ledger").asLong());
        try (ZooKeeper store = ZooKeeperClient.newBuilder().connectString(uri.getAuthority()).build()) {
            spoilt = store.getData(path, false, null);
            store.setData(path, with, -1);
        }
    }

    /** Whether an auditor has made its first checks: of all bookies, and then of all ledgers. */
    private boolean hasAudited() throws Exception {
        try (LedgerUnderreplicationManager tasks = client().getLedgerManagerFactory().newLedgerUnderreplicationManager()) {
            return tasks.getCheckAllLedgersCTime() != -1;
        }
    }

    /** A new ledger with one copy and one entry; once more, for a while, as a client learns of changes among bookies late. */
    private void write(int bytes, ObjectNode answer) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!answer.has("confirmed") && System.nanoTime() < end) {
            try {
                held = client().createLedger(1, 1, 1, BookKeeper.DigestType.CRC32C, PASSWORD);
                answer.put("ledger", held.getId());
                answer.put("confirmed", held.addEntry(new byte[bytes]));
            } catch (BKException e) {
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }

    /** The ledger as it is, without a recovery. */
    private LedgerHandle seen(JsonNode request) throws Exception {
        return client().openLedgerNoRecovery(request.get("ledger").asLong(), BookKeeper.DigestType.CRC32C, PASSWORD);
    }

    /** How many entries can be read. */
    private static int read(LedgerHandle ledger) throws InterruptedException {
        int count = 0;
        for (long entry = 0; entry <= ledger.getLastAddConfirmed(); entry++) {
            try {
                ledger.readEntries(entry, entry);
                count++;
            } catch (BKException e) {
                // then it is not readable
            }
        }
        return count;
    }

    private void add(int bytes, ObjectNode answer) throws InterruptedException {
        try {
            answer.put("confirmed", held.addEntry(new byte[bytes]));
        } catch (BKException e) {
            answer.put("refused", e.getMessage());
        }
    }

    /** Waits until that number of bookies is registered; returns how many are. */
    private int waited(int wanted) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        try (BookKeeperAdmin admin = new BookKeeperAdmin(client(), NullStatsLogger.INSTANCE, new ClientConfiguration())) {
            Collection<BookieId> there = admin.getAvailableBookies();
            while (there.size() != wanted && System.nanoTime() < end) {
                Thread.sleep(50);
                there = admin.getAvailableBookies();
            }
            return there.size();
        }
    }

    private BookKeeper client() throws Exception {
        if (client == null) {
            ClientConfiguration conf = new ClientConfiguration();
            conf.setMetadataServiceUri(metadata);
            conf.setSpeculativeReadTimeout(0);
            client = new BookKeeper(conf);
        }
        return client;
    }

    @Override
    public void close() throws Exception {
        if (client != null) {
            client.close();
        }
    }
}
