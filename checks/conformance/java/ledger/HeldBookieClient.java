package org.apache.bookkeeper.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCounted;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.bookkeeper.client.api.WriteFlag;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookieClient;
import org.apache.bookkeeper.proto.BookieProtocol;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.BatchedReadEntryCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.ForceLedgerCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.GetBookieInfoCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.ReadLacCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.WriteCallback;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.WriteLacCallback;
import org.apache.bookkeeper.util.AvailabilityOfEntriesOfLedger;
import org.apache.bookkeeper.util.ByteBufList;

/** The way from a client to its bookies: every request is held. */
final class HeldBookieClient implements BookieClient {
    private final GatedClient owner;

    HeldBookieClient(GatedClient owner) {
        this.owner = owner;
    }

    private void hold(HeldRequest.Kind kind, BookieId bookie, long ledger, long entry, int flags, byte[] key, ByteBuf body,
            Object callback, Object context) {
        owner.bench.requests.add(new HeldRequest(owner, kind, bookie, ledger, entry, flags, key, body, callback, context));
    }

    @Override
    public void addEntry(BookieId bookie, long ledger, byte[] key, long entry, ReferenceCounted toSend, WriteCallback callback,
            Object context, int options, boolean allowFastFail, EnumSet<WriteFlag> flags) {
        boolean recovers = (options & BookieProtocol.FLAG_RECOVERY_ADD) != 0;
        ByteBuf body = toSend instanceof ByteBuf ? Unpooled.copiedBuffer((ByteBuf) toSend)
                : Unpooled.copiedBuffer(ByteBufList.coalesce((ByteBufList) toSend));
        hold(recovers ? HeldRequest.Kind.RECOVERY_ADD : HeldRequest.Kind.ADD, bookie, ledger, entry, options, key, body, callback,
                context);
    }

    @Override
    public void readEntry(BookieId bookie, long ledger, long entry, ReadEntryCallback callback, Object context, int flags,
            byte[] key, boolean allowFastFail) {
        hold(HeldRequest.Kind.READ, bookie, ledger, entry, flags, key, null, callback, context);
    }

    @Override
    public void readLac(BookieId bookie, long ledger, ReadLacCallback callback, Object context) {
        hold(HeldRequest.Kind.READ_LAC, bookie, ledger, BookieProtocol.LAST_ADD_CONFIRMED, 0, null, null, callback, context);
    }

    @Override
    public void writeLac(BookieId bookie, long ledger, byte[] key, long lac, ByteBufList toSend, WriteLacCallback callback,
            Object context) {
        ByteBuf body = Unpooled.copiedBuffer(ByteBufList.coalesce(toSend));
        hold(HeldRequest.Kind.WRITE_LAC, bookie, ledger, lac, 0, key, body, callback, context);
    }

    // --- the same on an executor, where the answer is to be given: since 4.18.2, so that nothing is overridden in others

    public void addEntry(BookieId bookie, long ledger, byte[] key, long entry, ReferenceCounted toSend, WriteCallback callback,
            Object context, int options, boolean allowFastFail, EnumSet<WriteFlag> flags, Executor executor) {
        addEntry(bookie, ledger, key, entry, toSend, callback, context, options, allowFastFail, flags);
    }

    public void readEntry(BookieId bookie, long ledger, long entry, ReadEntryCallback callback, Object context, int flags,
            byte[] key, boolean allowFastFail, Executor executor) {
        readEntry(bookie, ledger, entry, callback, context, flags, key, allowFastFail);
    }

    public void readLac(BookieId bookie, long ledger, ReadLacCallback callback, Object context, Executor executor) {
        readLac(bookie, ledger, callback, context);
    }

    public void writeLac(BookieId bookie, long ledger, byte[] key, long lac, ByteBufList toSend, WriteLacCallback callback,
            Object context, Executor executor) {
        writeLac(bookie, ledger, key, lac, toSend, callback, context);
    }

    public void forceLedger(BookieId bookie, long ledger, ForceLedgerCallback callback, Object context, Executor executor) {
        throw unused("forceLedger");
    }

    public void batchReadEntries(BookieId bookie, long ledger, long start, int count, long size,
            BatchedReadEntryCallback callback, Object context, int flags, byte[] key, boolean allowFastFail, Executor executor) {
        throw unused("batchReadEntries");
    }

    public void readEntryWaitForLACUpdate(BookieId bookie, long ledger, long entry, long previous, long timeout,
            boolean piggyBack, ReadEntryCallback callback, Object context, Executor executor) {
        throw unused("readEntryWaitForLACUpdate");
    }

    // --- what the runs do not use

    private static UnsupportedOperationException unused(String what) {
        return new UnsupportedOperationException(what + " is not part of any run");
    }

    @Override
    public void forceLedger(BookieId bookie, long ledger, ForceLedgerCallback callback, Object context) {
        throw unused("forceLedger");
    }

    @Override
    public void batchReadEntries(BookieId bookie, long ledger, long start, int count, long size,
            BatchedReadEntryCallback callback, Object context, int flags, byte[] key, boolean allowFastFail) {
        throw unused("batchReadEntries");
    }

    @Override
    public void readEntryWaitForLACUpdate(BookieId bookie, long ledger, long entry, long previous, long timeout,
            boolean piggyBack, ReadEntryCallback callback, Object context) {
        throw unused("readEntryWaitForLACUpdate");
    }

    @Override
    public void getBookieInfo(BookieId bookie, long requested, GetBookieInfoCallback callback, Object context) {
        throw unused("getBookieInfo");
    }

    @Override
    public CompletableFuture<AvailabilityOfEntriesOfLedger> getListOfEntriesOfLedger(BookieId bookie, long ledger) {
        throw unused("getListOfEntriesOfLedger");
    }

    @Override
    public List<BookieId> getFaultyBookies() {
        return List.of();
    }

    @Override
    public boolean isWritable(BookieId bookie, long ledger) {
        return true;
    }

    @Override
    public long getNumPendingRequests(BookieId bookie, long ledger) {
        return 0;
    }

    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public void close() {
    }
}
