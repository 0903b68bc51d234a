package org.apache.bookkeeper.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import org.apache.bookkeeper.client.AsyncCallback.AddCallback;
import org.apache.bookkeeper.client.AsyncCallback.CloseCallback;
import org.apache.bookkeeper.client.AsyncCallback.ReadCallback;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/**
 * A handle of a ledger in memory, made without the constructor of LedgerHandle. Adds of a ledger of data are confirmed when they are
 * told to be, as those of a cursor's are if they are held, and its close is held. What it does with adds that are under way when it is closed, and what it says of the last entry
 * when somebody else has closed the ledger, is what LedgerHandle does.
 */
public final class HeldHandle extends LedgerHandle {
    /** Since 5.0.1 the handle is closed for each add that fails. */
    private static final String FAILED_ADD = "org.apache.bookkeeper.mledger.impl.OpAddEntry$";

    private HeldBookKeeper client;
    private StoredLedger ledger;
    private Deque<Add> pending;
    private long last;
    private boolean closed;
    private boolean reading;
    /** What the close was answered that is over; null if none is. A further one is answered so, by the closePromise of LedgerHandle. */
    private Integer ended;
    /** The closes by failed adds that are answered with the one that is under way; null if none is. */
    private Deque<IntConsumer> attached;

    private record Add(int entry, AddCallback callback, Object context) {
    }

    private HeldHandle() throws Exception {
        super(null, 0, null, null, null, null);
    }

    static HeldHandle of(HeldBookKeeper client, StoredLedger ledger) {
        HeldHandle handle = Bare.of(HeldHandle.class);
        handle.client = client;
        handle.ledger = ledger;
        handle.pending = new ArrayDeque<>();
        handle.last = ledger.length() - 1;
        return handle;
    }

    /** The ledger is closed with that many entries, unless it is closed already. */
    static HeldHandle recovered(HeldBookKeeper client, StoredLedger ledger, int entries) {
        ledger.close(entries);
        HeldHandle handle = of(client, ledger);
        handle.closed = true;
        handle.ended = BKException.Code.OK;
        return handle;
    }

    /** A handle that only reads, as ReadOnlyLedgerHandle does: its close changes nothing, and is answered at once. */
    static HeldHandle reading(HeldBookKeeper client, StoredLedger ledger) {
        HeldHandle handle = of(client, ledger);
        handle.reading = true;
        return handle;
    }

    /** The next entry is confirmed; returns whether it is that one, and somebody waits for it. */
    public boolean confirm(int entry) {
        if (pending.isEmpty() || pending.peek().entry != entry) {
            return false;
        }
        Add add = pending.poll();
        last = entry;
        ledger.confirmed = entry + 1;
        client.tasks().add(() -> add.callback.addComplete(BKException.Code.OK, this, entry, add.context));
        return true;
    }

    /** The next entry is confirmed, whichever it is; returns whether somebody waits for one. */
    public boolean confirmNext() {
        return confirm((int) last + 1);
    }

    /** An add fails for good: the handle closes the ledger at what is confirmed, and all that is under way fails so. */
    public boolean fail(int code) {
        if (pending.isEmpty()) {
            return false;
        }
        closed = true;
        failAll(code);
        boolean so = ledger.close((int) last + 1);
        ended = so ? BKException.Code.OK : BKException.Code.MetadataVersionException;
        return true;
    }

    /** Whether a close of the handle is over, so that a further one is answered at once. */
    public boolean isEnded() {
        return ended != null;
    }

    private void failAll(int code) {
        for (Add add : pending) {
            client.tasks().add(() -> add.callback.addComplete(code, this, add.entry, add.context));
        }
        pending.clear();
    }

    @Override
    public long getId() {
        return ledger.id;
    }

    @Override
    public synchronized long getLastAddConfirmed() {
        return last;
    }

    @Override
    public synchronized long getLastAddPushed() {
        return ledger.entries.size() - 1;
    }

    @Override
    public synchronized long getLength() {
        return ledger.entries.stream().limit(last + 1).mapToLong(entry -> entry.length).sum();
    }

    @Override
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public void asyncAddEntry(ByteBuf data, AddCallback callback, Object context) {
        byte[] bytes = new byte[data.readableBytes()];
        data.readBytes(bytes);
        data.release();
        add(bytes, callback, context);
    }

    @Override
    public void asyncAddEntry(byte[] data, AddCallback callback, Object context) {
        add(data, callback, context);
    }

    @Override
    public void asyncAddEntry(byte[] data, int offset, int length, AddCallback callback, Object context) {
        add(Arrays.copyOfRange(data, offset, offset + length), callback, context);
    }

    private void add(byte[] data, AddCallback callback, Object context) {
        int entry = ledger.entries.size();
        if (closed) {
            client.tasks().add(() -> callback.addComplete(BKException.Code.LedgerClosedException, this, -1, context));
            return;
        }
        ledger.entries.add(data);
        pending.add(new Add(entry, callback, context));
        if (!ledger.data && !client.holdsCursors) {
            confirm(entry);
        }
    }

    /**
     * The close of a ledger that somebody else has closed with another end is refused; then the handle has that end. That of a
     * deleted one fails. The closes of adds that fail by it are answered with it, the last of them first, as closePromise does it;
     * any other is a request of its own.
     */
    @Override
    public void asyncClose(CloseCallback callback, Object context) {
        if (reading) {
            client.tasks().add(() -> callback.closeComplete(BKException.Code.OK, this, context));
            return;
        }
        if (ended != null) {
            int before = ended;
            client.tasks().add(() -> callback.closeComplete(before, this, context));
            return;
        }
        if (attached != null && callback.getClass().getName().startsWith(FAILED_ADD)) {
            attached.push(done -> client.tasks().add(() -> callback.closeComplete(done, this, context)));
            return;
        }
        attached = new ArrayDeque<>();
        closed = true;
        failAll(BKException.Code.LedgerClosedException);
        client.ask("close", ledger.id, ledger.data, callback, (code, entries) -> {
            int found = code;
            if (code == BKException.Code.OK && ledger.status.equals("deleted")) {
                found = BKException.Code.NoSuchLedgerExistsOnMetadataServerException;
            } else if (code == BKException.Code.OK && !ledger.close((int) last + 1)) {
                found = BKException.Code.MetadataVersionException;
                last = ledger.end - 1;
            }
            ended = found;
            attached.forEach(each -> each.accept(ended));
            client.tasks().add(() -> callback.closeComplete(ended, this, context));
        });
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        asyncClose((code, handle, context) -> done.complete(null), null);
        return done;
    }

    @Override
    public void close() {
    }

    @Override
    public CompletableFuture<LedgerEntries> readAsync(long first, long last) {
        List<org.apache.bookkeeper.client.api.LedgerEntry> read = new ArrayList<>();
        for (long entry = first; entry <= last; entry++) {
            byte[] bytes = ledger.entries.get((int) entry);
            read.add(LedgerEntryImpl.create(ledger.id, entry, bytes.length, Unpooled.wrappedBuffer(bytes)));
        }
        CompletableFuture<LedgerEntries> answer = new CompletableFuture<>();
        client.tasks().add(() -> answer.complete(LedgerEntriesImpl.create(read)));
        return answer;
    }

    @Override
    public CompletableFuture<LedgerEntries> readUnconfirmedAsync(long first, long last) {
        return readAsync(first, last);
    }

    @Override
    public void asyncReadEntries(long first, long last, ReadCallback callback, Object context) {
        readAsync(first, last).thenAccept(entries -> {
            List<LedgerEntry> read = new ArrayList<>();
            entries.forEach(each -> read.add(new LedgerEntry((LedgerEntryImpl) each.duplicate())));
            callback.readComplete(BKException.Code.OK, this, java.util.Collections.enumeration(read), context);
        });
    }
}
