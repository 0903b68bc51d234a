package fencepost;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.metadata.api.MetadataStore;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.MetadataStoreException;
import org.apache.pulsar.metadata.api.MetadataStoreProvider;
import org.apache.pulsar.metadata.impl.ZKMetadataStore;
import org.apache.pulsar.metadata.impl.batching.MetadataOp;

/** Makes the release's own stores over ZooKeeper, of which one read can be left without an answer; its URLs are theirs with a prefix. */
public final class SilentStore implements MetadataStoreProvider {
    private static final String SCHEME = "silent";
    private static String path;
    private static CompletableFuture<Void> answer;

    /** The URL of a store that this class makes, which must be known to brokers before they start. */
    static String url(String of) {
        System.setProperty("pulsar.metadatastore.providers", SilentStore.class.getName());
        return SCHEME + ":" + of;
    }

    /** The next read of that path gets no answer before {@link #answer()}. */
    static synchronized void silence(String of) {
        path = of;
        answer = new CompletableFuture<>();
    }

    /** Whether that read has come. */
    static synchronized boolean isSilent() {
        return path == null;
    }

    static void answer() {
        answer.complete(null);
    }

    private static synchronized boolean takes(MetadataOp operation) {
        boolean is = operation.getType() == MetadataOp.Type.GET && operation.asGet().getPath().equals(path);
        path = is ? null : path;
        return is;
    }

    @Override
    public String urlScheme() {
        return SCHEME;
    }

    @Override
    public MetadataStore create(String url, MetadataStoreConfig config, boolean watchesSession) throws MetadataStoreException {
        return new OverZooKeeper(url.substring(SCHEME.length() + 1), config, watchesSession);
    }

    private static final class OverZooKeeper extends ZKMetadataStore {
        OverZooKeeper(String url, MetadataStoreConfig config, boolean watchesSession) throws MetadataStoreException {
            super(url, config, watchesSession);
        }

        @Override
        protected void batchOperation(List<MetadataOp> operations) {
            List<MetadataOp> others = new ArrayList<>();
            for (MetadataOp each : operations) {
                if (takes(each)) {
                    answer.thenRun(() -> super.batchOperation(List.of(each)));
                } else {
                    others.add(each);
                }
            }
            if (!others.isEmpty()) {
                super.batchOperation(others);
            }
        }
    }
}
