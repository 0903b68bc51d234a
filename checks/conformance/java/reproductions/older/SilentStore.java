package fencepost;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.metadata.api.MetadataStore;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.MetadataStoreException;
import org.apache.pulsar.metadata.api.MetadataStoreProvider;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/** Makes the release's own metadata stores, of which one read can be left without an answer; its URLs are theirs with a prefix. */
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

    private static synchronized boolean takes(String method, Object[] arguments) {
        boolean is = method.equals("get") && arguments[0].equals(path);
        path = is ? null : path;
        return is;
    }

    @Override
    public String urlScheme() {
        return SCHEME;
    }

    @Override
    public MetadataStore create(String url, MetadataStoreConfig config, boolean watchesSession) throws MetadataStoreException {
        MetadataStoreExtended store = MetadataStoreExtended.create(url.substring(SCHEME.length() + 1), config);
        return (MetadataStore) Proxy.newProxyInstance(SilentStore.class.getClassLoader(), new Class<?>[] {MetadataStoreExtended.class},
                (proxy, method, arguments) -> {
                    boolean waits = takes(method.getName(), arguments);
                    try {
                        Object result = method.invoke(store, arguments);
                        return waits ? answer.thenCompose(given -> (CompletableFuture<?>) result) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
