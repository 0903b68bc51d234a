package org.apache.bookkeeper.mledger.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.util.concurrent.RateLimiter;
import fencepost.Lines;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.HeldBookKeeper;
import org.apache.bookkeeper.client.HeldHandle;
import org.apache.bookkeeper.client.Request;
import org.apache.bookkeeper.client.StoredLedger;
import org.apache.bookkeeper.client.StoredLedgers;
import org.apache.bookkeeper.client.Tasks;
import org.apache.bookkeeper.mledger.AsyncCallbacks.AddEntryCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.CloseCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.DeleteCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.MarkDeleteCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ResetCursorCallback;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.HeldStore.Update;
import org.apache.bookkeeper.mledger.impl.HeldStore.View;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/**
 * A subscription: ManagedCursorImpl of a ManagedLedgerImpl whose messages are all stored, over metadata and ledgers in memory.
 * {@code begin} has how many messages there are and the settings; {@code steps} are taken one after the other, and what can be seen
 * is shown after the last. The creation of the cursor's ledger and each write there wait for a step. That a read is under way is
 * set in the cursor, and its end is ManagedCursorImpl.readOperationCompleted; nothing is read.
 */
public final class CursorBench implements Lines.Target {
    private static final RateLimiter USED_UP = RateLimiter.create(1e-9);
    /** The fields of ManagedCursorInfo and of PositionInfo: the position, the ranges behind it, and the bits of ledgers. */
    private static final int[] NODE = {2, 4, 0};
    private static final int[] ENTRY = {1, 3, 6};

    private final ManagedLedgerFactoryImpl factory;
    private HeldStore store;
    private StoredLedgers ledgers;
    private ManagedLedgerConfig config;
    private int messages;
    private int capacity;
    private Tasks tasks;
    private View view;
    private HeldBookKeeper bookies;
    private ManagedLedgerImpl ledger;
    private ManagedCursorImpl cursor;
    private int unanswered;
    private String failure;

    static {
        USED_UP.acquire();
    }

    /** A step that the code does not take; the message says why. */
    private static final class Refused extends Exception {
        Refused(String why) {
            super(why);
        }
    }

    /** What is done with the answer to an acknowledgement or a seek, of whichever kind. */
    private final class Heard implements DeleteCallback, MarkDeleteCallback, ResetCursorCallback {
        private final ManagedCursorImpl of = cursor;

        private void answered() {
            if (of == cursor) {
                unanswered--;
            }
        }

        private void failed(ManagedLedgerException why) {
            failure = why.toString();
        }

        @Override
        public void deleteComplete(Object context) {
            answered();
        }

        @Override
        public void deleteFailed(ManagedLedgerException why, Object context) {
            failed(why);
        }

        @Override
        public void markDeleteComplete(Object context) {
            answered();
        }

        @Override
        public void markDeleteFailed(ManagedLedgerException why, Object context) {
            failed(why);
        }

        @Override
        public void resetComplete(Object context) {
        }

        @Override
        public void resetFailed(ManagedLedgerException why, Object context) {
            failed(why);
        }
    }

    private CursorBench() throws Exception {
        ManagedLedgerFactoryConfig small = new ManagedLedgerFactoryConfig();
        small.setMaxCacheSize(0);
        factory = new ManagedLedgerFactoryImpl(new HeldStore().view().store, new HeldBookKeeper(new StoredLedgers(), new Tasks()),
                small);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(CursorBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        failure = null;
        try {
            for (JsonNode step : request.path("steps")) {
                take(step);
            }
        } catch (Refused e) {
            answer.put("refused", e.getMessage());
            return;
        }
        show(answer.putObject("seen"));
    }

    private void take(JsonNode step) throws Exception {
        switch (step.get("do").asText()) {
            case "begin":
                begin(step);
                break;
            case "load":
                load();
                break;
            case "acknowledge":
                acknowledge(step);
                break;
            case "flush":
                read(step);
                cursor.flush();
                break;
            case "seek":
                read(step);
                cursor.asyncResetCursor(at(step.get("to").asInt()), false, new Heard());
                break;
            case "end-read":
                orRefuse(pendingReads() > 0, "no read is under way");
                cursor.readOperationCompleted();
                break;
            case "create":
                create();
                break;
            case "store":
                store();
                break;
            case "unload":
                unload();
                break;
            case "crash":
                forget();
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
        tasks.drain();
        if (cursor != null && pendingReads() > 0 && cursor.pendingMarkDeleteOps.isEmpty()) {
            cursor.readOperationCompleted(); // nothing waits for its end
        }
        orRefuse(failure == null, failure);
    }

    private static void orRefuse(boolean done, String why) throws Refused {
        if (!done) {
            throw new Refused(why);
        }
    }

    /** The messages are stored in ledgers that are full, and the subscription is at the first. */
    private void begin(JsonNode settings) throws Exception {
        store = new HeldStore();
        ledgers = new StoredLedgers();
        messages = settings.get("messages").asInt();
        capacity = settings.get("capacity").asInt();
        config = new ManagedLedgerConfig();
        config.setEnsembleSize(1).setWriteQuorumSize(1).setAckQuorumSize(1);
        config.setMaxEntriesPerLedger(capacity).setMinimumRolloverTime(0, TimeUnit.MILLISECONDS);
        config.setRetentionTime(-1, TimeUnit.SECONDS).setRetentionSizeInMB(-1);
        config.setThrottleMarkDelete(0);
        config.setMaxUnackedRangesToPersist(settings.get("limit").asInt());
        config.setMaxUnackedRangesToPersistInMetadataStore(settings.get("node_limit").asInt());
        config.setPersistIndividualAckAsLongArray(settings.get("long_arrays").asBoolean());
        store.createCursor(Fields.message(-1, 1, -1));
        load();
        for (int message = 0; message < messages; message++) {
            ledger.asyncAddEntry(new byte[] {(byte) message}, new AddEntryCallback() {
                @Override
                public void addComplete(Position position, io.netty.buffer.ByteBuf entry, Object context) {
                }

                @Override
                public void addFailed(ManagedLedgerException why, Object context) {
                    failure = why.toString();
                }
            }, null);
            settle();
        }
        unload();
    }

    /** Nobody has the topic. */
    private void forget() throws Exception {
        tasks = new Tasks();
        view = store.view();
        bookies = new HeldBookKeeper(ledgers, tasks);
        bookies.holdsCursors = true;
        ledger = null;
        cursor = null;
        unanswered = 0;
    }

    private void load() throws Exception {
        forget();
        MetaStoreImpl lists = new MetaStoreImpl(view.store, tasks.scheduler());
        ledger = new ManagedLedgerImpl(factory, bookies, lists, config, tasks.scheduler(), HeldStore.TOPIC);
        ledger.initialize(new ManagedLedgerImpl.ManagedLedgerInitializeLedgerCallback() {
            @Override
            public void initializeComplete() {
                for (ManagedCursor each : ledger.getCursors()) {
                    cursor = (ManagedCursorImpl) each;
                }
            }

            @Override
            public void initializeFailed(ManagedLedgerException why) {
                failure = why.toString();
            }
        }, null);
        settle();
        orRefuse(cursor != null, "the topic is not loaded");
    }

    /** All that the managed ledger asks for is done. */
    private void settle() {
        do {
            tasks.drain();
        } while (letNext());
        tasks.drain();
    }

    private boolean letNext() {
        if (!view.updates.isEmpty()) {
            Update update = view.updates.remove(0);
            update.perform();
            return true;
        }
        if (!bookies.requests().isEmpty()) {
            Request request = bookies.requests().remove(0);
            StoredLedger of = ledgers.find(request.ledger);
            request.answer(BKException.Code.OK, of == null ? 0 : of.entries.size());
            return true;
        }
        return ledger.currentLedger instanceof HeldHandle && ((HeldHandle) ledger.currentLedger).confirmNext();
    }

    /** A cursor that waits for a ledger gets none any more. */
    private void unload() throws Exception {
        boolean[] closed = new boolean[1];
        bookies.requests().clear();
        ledger.asyncClose(new CloseCallback() {
            @Override
            public void closeComplete(Object context) {
                closed[0] = true;
            }

            @Override
            public void closeFailed(ManagedLedgerException why, Object context) {
                failure = why.toString();
            }
        }, null);
        settle();
        while (bookies.ofCursor != null && bookies.ofCursor.confirmNext()) {
            settle();
        }
        orRefuse(closed[0], "the topic is not closed");
        forget();
    }

    private void acknowledge(JsonNode step) throws Exception {
        read(step);
        unanswered++;
        Position position = at(step.get("message").asInt());
        Bare.set(ManagedCursorImpl.class, cursor, "markDeleteLimiter", step.path("rest").asBoolean() ? USED_UP : null);
        if (step.path("all").asBoolean()) {
            cursor.asyncMarkDelete(position, new Heard(), null);
        } else {
            cursor.asyncDelete(position, new Heard(), null);
        }
        Bare.set(ManagedCursorImpl.class, cursor, "markDeleteLimiter", null);
    }

    /** A read is under way if the step says so, and it makes a difference. */
    private void read(JsonNode step) {
        if (step.path("reading").asBoolean() && cursor.state == ManagedCursorImpl.State.Open) {
            Bare.set(ManagedCursorImpl.class, cursor, "pendingReadOps", 1);
        }
    }

    private int pendingReads() throws Exception {
        return (Integer) field("pendingReadOps");
    }

    /** The ledger is created, and its first entry stored; the node names it then. */
    private void create() throws Exception {
        Request creation = null;
        for (Request each : bookies.requests()) {
            creation = each.what.equals("create") ? each : creation;
        }
        orRefuse(creation != null, "no ledger is asked for");
        bookies.requests().remove(creation);
        creation.answer(BKException.Code.OK, 0);
        tasks.drain();
        orRefuse(bookies.ofCursor.confirmNext(), "nothing is written to the new ledger");
    }

    /** A seek that is done forgets what waits: nobody answers that. */
    private void store() throws Exception {
        boolean seeking = isSeeking();
        long waiting = cursor.pendingMarkDeleteOps.stream().filter(entry -> !seeks(entry)).count();
        orRefuse(bookies.ofCursor != null && bookies.ofCursor.confirmNext(), "no write is under way");
        tasks.drain();
        unanswered -= seeking && !isSeeking() ? (int) waiting : 0;
    }

    private boolean isSeeking() throws Exception {
        return (Integer) field("resetCursorInProgress") == ManagedCursorImpl.TRUE;
    }

    private static boolean seeks(ManagedCursorImpl.MarkDeleteEntry entry) {
        Method within = entry.callback.getClass().getEnclosingMethod();
        return within != null && within.getName().equals("internalResetCursor");
    }

    /** The position of a message; beyond the last the place after it. */
    private Position at(int message) {
        int last = Math.min(message, messages - 1);
        return PositionFactory.create(1 + last / capacity, last % capacity + message - last);
    }

    /** A position as the number of messages up to it. */
    private int upTo(long of, long entry) {
        return (int) Math.min(messages, of > (messages - 1) / capacity + 1 ? messages : (of - 1) * capacity + entry + 1);
    }

    private int upTo(Position position) {
        return position == null ? -1 : upTo(position.getLedgerId(), position.getEntryId());
    }

    private Object field(String name) throws Exception {
        Field field = ManagedCursorImpl.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(cursor);
    }

    private void show(ObjectNode seen) throws Exception {
        showStored(seen.putObject("stored"));
        if (cursor == null) {
            seen.put("state", "none");
            return;
        }
        seen.put("state", cursor.state.name());
        ArrayNode acked = seen.putArray("acked");
        int mark = upTo(cursor.getMarkDeletedPosition());
        for (int message = mark; message < messages; message++) {
            if (cursor.isMessageDeleted(at(message))) {
                acked.add(message);
            }
        }
        seen.put("mark", mark).put("last", upTo(cursor.lastMarkDeleteEntry.newPosition));
        seen.put("persisted", upTo((Position) field("persistentMarkDeletePosition")));
        seen.put("seeking", isSeeking()).put("dirty", (Boolean) field("isDirty"));
        seen.put("queued", queued()).put("unanswered", unanswered).put("within", cursor.isCursorDataFullyPersistable());
        ArrayNode writing = seen.putArray("writing");
        if (bookies.ofCursor != null) {
            StoredLedger of = ledgers.find(bookies.ofCursor.getId());
            of.entries.subList(of.confirmed, of.entries.size()).forEach(entry -> showPosition(entry, ENTRY, writing.addObject()));
        }
        ArrayNode requests = seen.putArray("requests");
        for (Request request : bookies.requests()) {
            requests.add(request.what);
        }
    }

    /** What waits: acknowledgements, a seek as the last, or a seek and acknowledgements behind it. */
    private String queued() {
        String waits = "nothing";
        for (ManagedCursorImpl.MarkDeleteEntry entry : cursor.pendingMarkDeleteOps) {
            waits = seeks(entry) ? "seek" : waits.startsWith("seek") ? "seek_and_acks" : "acks";
        }
        return waits;
    }

    /** What whoever loads the topic next goes by: the last entry of the cursor's ledger, or its node. */
    private void showStored(ObjectNode shown) {
        byte[] node = store.cursor();
        StoredLedger of = ledgers.find(Fields.of(node)[1]);
        if (of == null) {
            showPosition(node, NODE, shown);
        } else {
            showPosition(of.entries.get(of.confirmed - 1), ENTRY, shown);
        }
    }

    private void showPosition(byte[] message, int[] fields, ObjectNode shown) {
        long[] position = Fields.of(message);
        int mark = upTo(position[fields[0]], position[fields[0] + 1]);
        BitSet acked = new BitSet();
        for (byte[] range : Fields.parts(message, fields[1])) {
            long[] lower = Fields.of(Fields.parts(range, 1).get(0));
            long[] upper = Fields.of(Fields.parts(range, 2).get(0));
            acked.set(upTo(lower[1], lower[2]), upTo(upper[1], upper[2]));
        }
        for (byte[] bits : Fields.parts(message, fields[2])) {
            long of = Fields.of(bits)[1];
            BitSet.valueOf(Fields.repeated(bits, 2)).stream().forEach(entry -> acked.set(upTo(of, entry) - 1));
        }
        shown.put("mark", mark);
        ArrayNode behind = shown.putArray("acked");
        acked.stream().filter(each -> each >= mark).forEach(behind::add);
    }

    @Override
    public void close() {
    }
}
