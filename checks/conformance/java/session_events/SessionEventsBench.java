package fencepost;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.SessionEvent;
import org.apache.pulsar.metadata.impl.ZKMetadataStore;

/**
 * A ZKMetadataStore over sockets whose session expires again and again. Nothing of it is held: {@code expire} has the server end the
 * session, and the answer says whether the listener has {@code heard} that there is a new one.
 */
public final class SessionEventsBench implements Lines.Target {
    /** A fifteenth of it is the time between two looks of the store's own watcher. */
    private static final int SESSION_MILLIS = 3000;
    /** Ten looks. */
    private static final int PATIENCE_MILLIS = 2000;

    private final Server server = new Server();
    private final BlockingQueue<SessionEvent> heard = new LinkedBlockingQueue<>();
    private final ZKMetadataStore store;

    private SessionEventsBench() throws Exception {
        var config = MetadataStoreConfig.builder().sessionTimeoutMillis(SESSION_MILLIS).build();
        store = new ZKMetadataStore("127.0.0.1:" + server.port(), config, true);
        store.registerSessionListener(heard::add);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(SessionEventsBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        heard.clear();
        long session = store.getZkSessionId();
        server.expire(session);
        Server.until("new session", () -> store.getZkSessionId() != session && server.has(store.getZkSessionId()));
        SessionEvent last = next();
        while (last != null && last != SessionEvent.SessionReestablished) {
            last = next();
        }
        answer.put("heard", last != null);
        // a request of the new session is answered, whether or not its event was heard
        answer.put("usable", store.exists("/").get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
    }

    private SessionEvent next() throws InterruptedException {
        return heard.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() throws Exception {
        store.close();
        server.close();
    }
}
