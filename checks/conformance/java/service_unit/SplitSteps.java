package org.apache.pulsar.metadata.coordination.impl;

/** The steps of a split at a broker, from the write of the half's record on. */
final class SplitSteps {
    private final UnitBroker broker;
    private final RecordRequests requests;

    SplitSteps(UnitBroker broker, RecordRequests requests) {
        this.broker = broker;
        this.requests = requests;
    }

    /** Goes on with a split of a unit; returns why it cannot, null if it did. */
    String take(String step, String whole, String half, Surroundings around) throws Exception {
        Layout layout = around.layout;
        switch (step) {
            case "own-half":
                if (!requests.let(half, owned()) && !layout.isReading()) {
                    return broker.name + " does not go on with the split";
                }
                layout.own();
                return null;
            case "learn-layout":
                layout.learn();
                return null;
            case "lose-layout":
                layout.fail();
                return null;
            default:
                if (!layout.isChanging()) {
                    return broker.name + " does not change the layout";
                }
                if (step.equals("conflict")) {
                    layout.conflict();
                } else if (step.equals("fail-layout")) {
                    layout.fail();
                } else {
                    layout.change();
                }
                return null;
        }
    }

    /** The write by which this broker has the half. */
    private String owned() {
        return "put Owned " + broker.name + " nobody 1";
    }

    /** What the broker is to do next, as the model has it; null if it waits to read that it has the half. */
    String stage(String whole, String half, Layout layout) {
        if (layout.isChanging()) {
            return "changing";
        }
        if (layout.isReading() || requests.writes(half).contains(owned())) {
            return "owning";
        }
        if (requests.writes(whole).stream().anyMatch(each -> each.startsWith("put Deleted"))) {
            return "deleting";
        }
        return requests.isRead(half) ? null : "none";
    }
}
