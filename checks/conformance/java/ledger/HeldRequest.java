package org.apache.bookkeeper.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.bookie.Apart;
import org.apache.bookkeeper.bookie.Bookie;
import org.apache.bookkeeper.bookie.BookieException;
import org.apache.bookkeeper.bookie.BookieImpl;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookieProtocol;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.ReadLacCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.WriteCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.WriteLacCallback;

/** A request of a client to a bookie: it reaches the bookie, and its answer the client, when it is told to. */
final class HeldRequest {
    private static final int SECONDS = 20;

    /** What the client wants; the names are those that Fencepost reads. */
    enum Kind {
        ADD("add"), RECOVERY_ADD("recovery-add"), READ("read"), READ_LAC("read-lac"), WRITE_LAC("write-lac");

        final String name;

        Kind(String name) {
            this.name = name;
        }
    }

    final GatedClient owner;
    final Kind kind;
    final BookieId bookie;
    final long ledger;
    final long entry;
    final int flags;
    final byte[] key;
    final ByteBuf body;
    final Object callback;
    final Object context;
    boolean delivered;
    boolean answered;
    private int code;
    private ByteBuf answer;
    private ByteBuf lastEntry;
    /** Where a bookie handles the add, in the midst of which it waits. */
    private Apart apart;

    HeldRequest(GatedClient owner, Kind kind, BookieId bookie, long ledger, long entry, int flags, byte[] key, ByteBuf body,
            Object callback, Object context) {
        this.owner = owner;
        this.kind = kind;
        this.bookie = bookie;
        this.ledger = ledger;
        this.entry = entry;
        this.flags = flags;
        this.key = key;
        this.body = body;
        this.callback = callback;
        this.context = context;
    }

    @Override
    public String toString() {
        return owner.name + " " + kind.name + " " + bookie + " e" + entry;
    }

    /**
     * The bookie handles the request, as its request processors do (WriteEntryProcessorV3, ReadEntryProcessorV3, ReadLacProcessorV3,
     * WriteLacProcessorV3); the answer is kept. A second time it is a duplicate. Returns the answer's code.
     */
    int deliver(RealBookie real) throws Exception {
        delivered = true;
        answer = null;
        lastEntry = null;
        if (apart != null && apart.isAlive()) {
            real.running();
            apart.ends(Apart.CHECKED);
            apart = null;
            return code;
        }
        code = BKException.Code.BookieHandleNotAvailableException;
        if (real.isUp()) {
            BookieImpl at = real.running();
            real.handle(toString(), () -> code = handled(at));
        }
        return code;
    }

    /** The bookie finds that the ledger is not fenced, and waits there. */
    void checkFence(RealBookie real) throws Exception {
        BookieImpl at = real.running();
        apart = real.apart(ledger, key, Apart.CHECKED, () -> code = handled(at));
    }

    /** The bookie handles the add while another one, of the same entry, is to log the master key. */
    int deliverWithKeyLast(RealBookie real) throws Exception {
        BookieImpl at = real.running();
        ByteBuf again = Unpooled.copiedBuffer(body);
        real.apart(ledger, key, Apart.LOG, () -> at.recoveryAddEntry(again, (rc, l, e, b, c) -> { }, null, key));
        return deliver(real);
    }

    private int handled(BookieImpl at) throws Exception {
        try {
            switch (kind) {
                case ADD:
                case RECOVERY_ADD:
                    return add(at);
                case WRITE_LAC:
                    CompletableFuture<Integer> written = new CompletableFuture<>();
                    at.setExplicitLac(Unpooled.copiedBuffer(body), (rc, l, e, b, c) -> written.complete(rc), null, key);
                    return written.get(SECONDS, TimeUnit.SECONDS);
                case READ_LAC:
                    return readLac(at);
                default:
                    return read(at);
            }
        } catch (Bookie.NoLedgerException e) {
            return BKException.Code.NoSuchLedgerExistsException;
        } catch (Bookie.NoEntryException e) {
            return BKException.Code.NoSuchEntryException;
        } catch (BookieException.DataUnknownException e) {
            return BKException.Code.DataUnknownException;
        } catch (BookieException e) {
            return refused(e);
        } catch (IOException e) {
            return isRead() ? BKException.Code.ReadException : BKException.Code.WriteException;
        }
    }

    private boolean isRead() {
        return kind == Kind.READ || kind == Kind.READ_LAC;
    }

    /**
     * What the processors of these requests make of it. That a ledger was fenced and deleted has a class of its own from
     * 4.17.3 on; in 4.17.2 it is an add's LedgerFencedException, which a read takes for a wrong password.
     */
    private int refused(BookieException e) {
        boolean isDeleted = e.getClass().getSimpleName().equals("LedgerFencedAndDeletedException");
        switch (kind) {
            case ADD:
            case RECOVERY_ADD:
                boolean isFenced = isDeleted || e instanceof BookieException.LedgerFencedException;
                return isFenced ? BKException.Code.LedgerFencedException : BKException.Code.UnauthorizedAccessException;
            case READ_LAC:
                return BKException.Code.ReadException;
            default:
                return isDeleted ? BKException.Code.NoSuchLedgerExistsException : BKException.Code.UnauthorizedAccessException;
        }
    }

    private int add(BookieImpl at) throws Exception {
        CompletableFuture<Integer> written = new CompletableFuture<>();
        WriteCallback done = (rc, l, e, b, c) -> written.complete(rc);
        if (kind == Kind.ADD) {
            at.addEntry(Unpooled.copiedBuffer(body), false, done, null, key);
        } else {
            at.recoveryAddEntry(Unpooled.copiedBuffer(body), done, null, key);
        }
        return written.get(SECONDS, TimeUnit.SECONDS);
    }

    private int read(BookieImpl at) throws Exception {
        boolean fences = (flags & BookieProtocol.FLAG_DO_FENCING) != 0;
        CompletableFuture<Boolean> fenced = fences ? at.fenceLedger(ledger, key) : CompletableFuture.completedFuture(true);
        try {
            answer = copied(at.readEntry(ledger, entry));
        } finally {
            // a positive answer waits for the journal; the others must, too, so that the run stays the same
            if (!fenced.get(SECONDS, TimeUnit.SECONDS)) {
                answer = null;
            }
        }
        return answer == null ? BKException.Code.ReadException : BKException.Code.OK;
    }

    private int readLac(BookieImpl at) throws Exception {
        answer = copied(at.getExplicitLac(ledger));
        try {
            lastEntry = copied(at.readEntry(ledger, BookieProtocol.LAST_ADD_CONFIRMED));
        } catch (Bookie.NoLedgerException e) {
            throw e;
        } catch (IOException e) {
            lastEntry = null;
        }
        return answer == null && lastEntry == null ? BKException.Code.NoSuchEntryException : BKException.Code.OK;
    }

    private static ByteBuf copied(ByteBuf bytes) {
        if (bytes == null) {
            return null;
        }
        ByteBuf copy = Unpooled.copiedBuffer(bytes);
        bytes.release();
        return copy;
    }

    /** The answer reaches the client, which is to run until it waits again; with a failure it is that instead. */
    void answer(Integer failure) {
        if (answered) {
            throw new IllegalStateException("answered twice: " + this);
        }
        if (failure == null && !delivered) {
            throw new IllegalStateException("answered before it was delivered: " + this);
        }
        answered = true;
        int rc = failure == null ? code : failure;
        ByteBuf bytes = rc == BKException.Code.OK ? answer : null;
        ByteBuf last = rc == BKException.Code.OK ? lastEntry : null;
        owner.executor.execute(() -> {
            switch (kind) {
                case ADD:
                case RECOVERY_ADD:
                    ((WriteCallback) callback).writeComplete(rc, ledger, entry, bookie, context);
                    break;
                case WRITE_LAC:
                    ((WriteLacCallback) callback).writeLacComplete(rc, ledger, bookie, context);
                    break;
                case READ_LAC:
                    ((ReadLacCallback) callback).readLacComplete(rc, ledger, bytes, last, context);
                    break;
                default:
                    ((ReadEntryCallback) callback).readEntryComplete(rc, ledger, entry, bytes, context);
            }
        });
    }
}
