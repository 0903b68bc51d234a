package org.apache.bookkeeper.mledger.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.HeldBookKeeper;
import org.apache.bookkeeper.client.StoredLedger;
import org.apache.bookkeeper.client.StoredLedgers;
import org.apache.bookkeeper.client.Tasks;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/**
 * A topic at brokers over metadata and ledgers in memory, and a producer. {@code begin} has the names of {@code brokers} and the
 * settings of the topic; {@code steps} are taken one after the other, and what can be seen is shown after the last.
 */
public final class TopicBench implements Lines.Target {
    private final ManagedLedgerFactoryImpl factory;
    private final Map<String, TopicBroker> brokers = new LinkedHashMap<>();
    private HeldStore store;
    private StoredLedgers ledgers;
    private String connected;
    private int acked;
    private Position consumed;
    private final Set<Long> trimmed = new TreeSet<>();
    private Set<Long> beforeTrimming = Set.of();
    private boolean deletionIsRight;
    private boolean discarded;

    /** A step that the code does not take; the message says why. */
    static final class Refused extends Exception {
        Refused(String why) {
            super(why);
        }
    }

    private TopicBench() throws Exception {
        ManagedLedgerFactoryConfig config = new ManagedLedgerFactoryConfig();
        config.setMaxCacheSize(0);
        factory = new ManagedLedgerFactoryImpl(new HeldStore().view().store, new HeldBookKeeper(new StoredLedgers(), new Tasks()),
                config);
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(TopicBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        try {
            for (JsonNode step : request.path("steps")) {
                if (step.get("do").asText().equals("begin")) {
                    begin(step);
                } else {
                    take(step);
                }
                for (TopicBroker broker : brokers.values()) {
                    broker.drain();
                }
            }
        } catch (Refused e) {
            answer.put("refused", e.getMessage());
            return;
        }
        show(answer.putObject("seen"));
    }

    private void begin(JsonNode request) throws Exception {
        brokers.clear();
        store = new HeldStore();
        ledgers = new StoredLedgers();
        connected = null;
        acked = 0;
        consumed = null;
        trimmed.clear();
        deletionIsRight = discarded = false;
        TopicBroker.Settings settings = new TopicBroker.Settings(request.get("capacity").asInt(),
                request.get("dedup").asBoolean(), request.get("lazy").asBoolean());
        if (request.get("subscription").asBoolean()) {
            store.createCursor(Fields.message(-1, 1, -1));
        }
        for (JsonNode name : request.get("brokers")) {
            String broker = name.asText();
            brokers.put(broker, new TopicBroker(broker, factory, store, ledgers, settings,
                    (publication, failure) -> told(broker, publication.message, failure)));
        }
    }

    /** ProducerImpl.ackReceived: a receipt for a later message than the next makes the producer connect again. */
    private void told(String by, int message, Exception failure) {
        if (failure != null || !by.equals(connected)) {
            return;
        }
        if (message == acked) {
            acked++;
        } else if (message > acked) {
            hangUp();
        }
    }

    private void hangUp() {
        brokers.get(connected).hangUp();
        disconnect();
    }

    private void disconnect() {
        TopicBroker broker = brokers.get(connected);
        connected = null;
        if (broker != null && broker.topic != null) {
            broker.topic.removeProducer();
        }
    }

    private void take(JsonNode step) throws Exception {
        TopicBroker broker = brokers.get(step.path("at").asText());
        long ledger = step.path("ledger").asLong();
        int entries = step.path("entries").asInt();
        String what = step.path("what").asText();
        switch (step.get("do").asText()) {
            case "open":
                broker.open();
                break;
            case "let":
                orRefuse(broker.let(what, ledger, step.path("code").asInt(), entries), broker, what);
                break;
            case "create":
                orRefuse(broker.createAhead(), broker, "creation");
                break;
            case "write":
                orRefuse(broker.write(what, step.get("outcome").asText(), step.path("cursors").asText()), broker, "write of the " + what);
                if (what.equals("trim") && !broker.isFenced()) {
                    beforeTrimming.stream().filter(id -> !broker.known().contains(id)).forEach(trimmed::add);
                }
                break;
            case "connect":
                connected = broker.name;
                broker.topic.addProducer();
                break;
            case "lose":
                hangUp();
                break;
            case "disconnect":
                orRefuse(broker.topic.isCutOff(), broker, "disconnection");
                broker.topic.removeProducer();
                break;
            case "forget-producer":
                disconnect();
                break;
            case "publish":
                broker.publish(step.get("message").asInt());
                break;
            case "arrive":
                orRefuse(broker.arrive(), broker, "add");
                break;
            case "arrive-unprocessed":
                orRefuse(broker.arriveUnprocessed(), broker, "add");
                break;
            case "confirm":
                orRefuse(broker.confirm(entries), broker, "entry " + entries);
                break;
            case "fail":
                orRefuse(broker.fail(step.get("code").asInt()), broker, "add");
                break;
            case "fence-when-lost":
                Bare.set(ManagedLedgerFactoryImpl.class, factory, "metadataSessionLost", true);
                orRefuse(broker.fail(BKException.Code.LedgerFencedException), broker, "add");
                broker.drain();
                Bare.set(ManagedLedgerFactoryImpl.class, factory, "metadataSessionLost", false);
                break;
            case "time-out":
                broker.timeOut();
                broker.drain();
                broker.let("close", ledger, BKException.Code.OK, entries); // since 5.0.1 it has one
                break;
            case "age-creation":
                broker.ageCreation();
                break;
            case "roll":
                broker.roll();
                break;
            case "terminate":
                broker.terminate();
                break;
            case "close":
                broker.close();
                break;
            case "transfer":
                broker.topic.transfer();
                broker.close();
                break;
            case "trim":
                beforeTrimming = Set.copyOf(broker.known());
                broker.trim(ledger);
                break;
            case "renumber":
                store.renumber(step.get("version").asLong());
                break;
            case "delete":
                deletionIsRight = broker.knowsTheList();
                broker.delete();
                break;
            case "consume":
                broker.consume(ledger, entries, position ->
                        consumed = consumed == null || position.compareTo(consumed) > 0 ? position : consumed);
                break;
            case "flush":
                broker.flush();
                break;
            case "read-cursor":
                orRefuse(broker.readCursor(), broker, "cursor");
                break;
            case "snapshot":
                broker.topic.takeSnapshot();
                break;
            case "set-properties":
                broker.setProperties();
                break;
            case "truncate":
                broker.clearBacklogs();
                break;
            case "crash":
                broker.hangUp();
                forget(broker);
                break;
            case "forget":
                forget(broker);
                break;
            case "recover":
                ledgers.find(ledger).close(entries);
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private void forget(TopicBroker broker) throws Exception {
        if (broker.name.equals(connected)) {
            connected = null;
        }
        broker.forget();
    }

    private static void orRefuse(boolean done, TopicBroker broker, String what) throws Refused {
        if (!done) {
            throw new Refused(broker.name + " has none outstanding: " + what);
        }
    }

    private void show(ObjectNode seen) throws Exception {
        byte[] list = store.list();
        ObjectNode node = seen.putObject("list").put("version", store.version());
        Fields.showList(list == null ? new byte[0] : list, node);
        discarded |= deletionIsRight && list == null;
        seen.put("discarded", discarded);
        trimmed.forEach(seen.putArray("trimmed")::add);
        if (consumed != null) {
            seen.putArray("consumed").add(consumed.getLedgerId()).add(consumed.getEntryId());
        }
        byte[] cursor = store.cursor();
        if (cursor != null) {
            long[] position = position(cursor);
            seen.putArray("cursor").add(position[0]).add(position[1]);
        }
        ObjectNode stored = seen.putObject("stored");
        for (StoredLedger ledger : ledgers.data()) {
            ObjectNode shown = stored.putObject(String.valueOf(ledger.id));
            shown.put("status", ledger.status).put("confirmed", ledger.confirmed).put("end", ledger.end);
            ArrayNode content = shown.putArray("content");
            ledger.entries.forEach(entry -> content.add(Publication.of(entry)));
        }
        TreeSet<String> requests = new TreeSet<>();
        ObjectNode shown = seen.putObject("brokers");
        for (TopicBroker broker : brokers.values()) {
            broker.show(shown.putObject(broker.name), requests);
        }
        seen.put("connected", connected == null ? "nobody" : connected).put("acked", acked);
        requests.forEach(seen.putArray("requests")::add);
    }

    /** The place that a cursor has in the store: its ledger's last entry, or its node if it has no ledger. */
    private long[] position(byte[] cursor) {
        long[] node = Fields.of(cursor);
        StoredLedger ledger = node[1] < 0 ? null : ledgers.find(node[1]);
        if (ledger == null || ledger.entries.isEmpty()) {
            return new long[] {node[2], node[3]};
        }
        long[] last = Fields.of(ledger.entries.get(ledger.entries.size() - 1));
        return new long[] {last[1], last[2]};
    }

    @Override
    public void close() {
    }
}
