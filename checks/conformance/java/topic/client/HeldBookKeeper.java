package org.apache.bookkeeper.client;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.client.AsyncCallback.CreateCallback;
import org.apache.bookkeeper.client.AsyncCallback.DeleteCallback;
import org.apache.bookkeeper.client.AsyncCallback.OpenCallback;
import org.apache.bookkeeper.client.api.CreateBuilder;
import org.apache.bookkeeper.client.api.OpenBuilder;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.api.WriteHandle;
import org.apache.bookkeeper.common.util.OrderedExecutor;

/**
 * The BookKeeper client of a broker, over ledgers in memory. Each request about a ledger of data is held; those of cursors' ledgers
 * are answered by the next task, unless their creations and their entries are held, too.
 */
public final class HeldBookKeeper extends BookKeeper {
    private static final String OF_CURSOR = "pulsar/cursor";

    private final StoredLedgers ledgers;
    private final Tasks tasks;
    private final List<Request> requests = new ArrayList<>();
    private StoredLedger ahead;
    /** No ledger of a cursor is found. */
    public boolean unreadable;
    /** The creation of a cursor's ledger is held, and each entry of it until it is confirmed. */
    public boolean holdsCursors;
    /** The handle of the cursor's ledger that was created last; null if none was. */
    public HeldHandle ofCursor;

    public HeldBookKeeper(StoredLedgers ledgers, Tasks tasks) {
        this.ledgers = ledgers;
        this.tasks = tasks;
    }

    /** What the code waits for, in the order in which it asked. */
    public List<Request> requests() {
        return requests;
    }

    Tasks tasks() {
        return tasks;
    }

    /** Holds a request about a ledger of data; answers one about another, as well as can be. */
    void ask(String what, long ledger, boolean ofData, Object of, Request.Answer answer) {
        if (ofData || holdsCursors && what.equals("create")) {
            requests.add(new Request(what, ledger, of, answer));
        } else {
            StoredLedger stored = ledgers.find(ledger);
            answer.give(BKException.Code.OK, stored == null ? 0 : stored.confirmed);
        }
    }

    @Override
    public OrderedExecutor getMainWorkerPool() {
        return tasks;
    }

    @Override
    public void asyncCreateLedger(int ensemble, int writeQuorum, int ackQuorum, DigestType type, byte[] password,
            CreateCallback callback, Object context, Map<String, byte[]> metadata) {
        create(metadata, callback, context);
    }

    private void create(Map<String, byte[]> metadata, CreateCallback callback, Object context) {
        boolean ofData = metadata == null || !metadata.containsKey(OF_CURSOR);
        ask("create", 0, ofData, callback, (code, entries) -> {
            StoredLedger ledger = code == BKException.Code.OK ? made(ofData) : null;
            HeldHandle handle = ledger == null ? null : HeldHandle.of(this, ledger);
            if (!ofData) {
                ofCursor = handle;
            }
            tasks.add(() -> callback.createComplete(code, handle, context));
        });
    }

    /** The ledger that is asked for is created; who asked hears of it when the request is answered. */
    public void createAhead() {
        ahead = ledgers.create(true);
    }

    private StoredLedger made(boolean ofData) {
        if (!ofData || ahead == null) {
            return ledgers.create(ofData);
        }
        StoredLedger made = ahead;
        ahead = null;
        return made;
    }

    @Override
    public void asyncOpenLedger(long id, DigestType type, byte[] password, OpenCallback callback, Object context) {
        ask("open", id, ledgers.isOfData(id), callback, (code, entries) -> {
            StoredLedger ledger = ledgers.find(id);
            int found = ledger == null || unreadable && !ledger.data ? BKException.Code.NoSuchLedgerExistsOnMetadataServerException : code;
            HeldHandle handle = found == BKException.Code.OK ? HeldHandle.recovered(this, ledger, entries) : null;
            tasks.add(() -> callback.openComplete(found, handle, context));
        });
    }

    /** Not overridden in 4.0.8, whose BookKeeper has no such method. */
    public void asyncOpenLedger(long id, DigestType type, byte[] password, OpenCallback callback, Object context,
            boolean keepUpdateMetadata) {
        asyncOpenLedger(id, type, password, callback, context);
    }

    @Override
    public void asyncDeleteLedger(long id, DeleteCallback callback, Object context) {
        ask("delete", id, ledgers.isOfData(id), callback, (code, entries) -> {
            StoredLedger ledger = ledgers.find(id);
            int done = ledger == null ? BKException.Code.NoSuchLedgerExistsOnMetadataServerException : code;
            if (done == BKException.Code.OK) {
                ledger.status = "deleted";
            }
            tasks.add(() -> callback.deleteComplete(done, context));
        });
    }

    /**
     * A reader gets what is confirmed or within the end; who recovers an old ledger by reading it is a step of its own. Since 5.0.1 a
     * managed ledger recovers its last ledger so, and opens the ledgers of cursors: both keep its metadata up to date.
     */
    @Override
    public OpenBuilder newOpenLedgerOp() {
        long[] id = new long[1];
        boolean[] keeps = new boolean[1];
        return built(OpenBuilder.class, (builder, method, arguments) -> {
            if (method.getName().equals("withLedgerId")) {
                id[0] = (Long) arguments[0];
            }
            keeps[0] |= method.getName().equals("withKeepUpdateMetadata") && (Boolean) arguments[0];
            if (!method.getName().equals("execute")) {
                return builder;
            }
            CompletableFuture<ReadHandle> opened = new CompletableFuture<>();
            if (keeps[0] || ledgers.find(id[0]) != null && !ledgers.isOfData(id[0])) {
                asyncOpenLedger(id[0], DigestType.CRC32, null, (code, handle, context) -> {
                    if (code == BKException.Code.OK) {
                        opened.complete(handle);
                    } else {
                        opened.completeExceptionally(BKException.create(code));
                    }
                }, null);
                return opened;
            }
            StoredLedger ledger = ledgers.find(id[0]);
            tasks.add(() -> {
                if (ledger == null) {
                    opened.completeExceptionally(new BKException.BKNoSuchLedgerExistsOnMetadataServerException());
                } else {
                    opened.complete(HeldHandle.reading(this, ledger));
                }
            });
            return opened;
        });
    }

    /** Since 5.0.0 the managed ledger creates its ledgers so. */
    @Override
    @SuppressWarnings("unchecked")
    public CreateBuilder newCreateLedgerOp() {
        List<Map<String, byte[]>> metadata = new ArrayList<>();
        return built(CreateBuilder.class, (builder, method, arguments) -> {
            if (method.getName().equals("withCustomMetadata")) {
                metadata.add((Map<String, byte[]>) arguments[0]);
            }
            if (!method.getName().equals("execute")) {
                return builder;
            }
            CompletableFuture<WriteHandle> created = new CompletableFuture<>();
            create(metadata.isEmpty() ? null : metadata.get(0), (code, handle, context) -> {
                if (code == BKException.Code.OK) {
                    created.complete(handle);
                } else {
                    created.completeExceptionally(BKException.create(code));
                }
            }, null);
            return created;
        });
    }

    private static <T> T built(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public void close() {
    }
}
