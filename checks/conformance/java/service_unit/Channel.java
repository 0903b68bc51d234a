package org.apache.pulsar.metadata.coordination.impl;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.loadbalance.LeaderElectionService;
import org.apache.pulsar.broker.loadbalance.extensions.BrokerRegistry;
import org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl;
import org.apache.pulsar.broker.loadbalance.extensions.LoadManagerContext;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateChannelImpl;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateData;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateMetadataStoreTableViewImpl;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.metadata.api.extended.SessionEvent;

/** Pulsar's channel of service units with what it asks for; of what it has of its own only the map of lookups is replaced. */
final class Channel extends ServiceUnitStateChannelImpl {
    private static final long NEVER = 1L << 40;

    private final Surroundings around;
    final LateLookups lookups = new LateLookups();

    Channel(PulsarService pulsar, Surroundings around) throws Exception {
        super(pulsar);
        this.around = around;
        Bare.set(ServiceUnitStateChannelImpl.class, this, "getOwnerRequests", lookups);
    }

    @Override
    protected BrokerRegistry getBrokerRegistry() {
        return around.registry();
    }

    @Override
    protected LeaderElectionService getLeaderElectionService() {
        return around.election();
    }

    @Override
    protected ExtensibleLoadManagerImpl getLoadManager() {
        return around.loadManager();
    }

    @Override
    protected LoadManagerContext getContext() {
        return around.context();
    }

    @Override
    protected PulsarAdmin getPulsarAdmin() {
        return around.admin();
    }

    Set<?> cleaned() throws Exception {
        return ((Map<?, ?>) HeldStore.field(this, "cleanupJobs")).keySet();
    }

    /** How steady it takes the metadata store for. */
    String metadata() throws Exception {
        var method = ServiceUnitStateChannelImpl.class.getDeclaredMethod("getMetadataState");
        method.setAccessible(true);
        return method.invoke(this).toString();
    }

    /** The last session event was long ago. */
    void settle() throws Exception {
        set("lastMetadataSessionEventTimestamp", 0);
    }

    /** The leader's monitor looks: what moves, or is left, counts as old or not, whenever it was written. */
    void monitor(List<String> brokers, boolean overdue, boolean old) throws Exception {
        set("inFlightStateWaitingTimeInMillis", overdue ? -NEVER : NEVER);
        set("stateTombstoneDelayTimeInMillis", old ? -NEVER : NEVER);
        monitorOwnerships(brokers);
    }

    /** Nothing counts as overdue any more; a monitor that is still to hear of what it wrote has looked at all by then. */
    void calm() throws Exception {
        set("inFlightStateWaitingTimeInMillis", UnitBroker.AN_HOUR_MILLIS);
    }

    private void set(String name, long value) throws Exception {
        var field = ServiceUnitStateChannelImpl.class.getDeclaredField(name);
        field.setAccessible(true);
        field.setLong(this, value);
    }

    /** Whether an assignment is under way, for which a shutdown waits since 5.0.1: written, and the record not read yet. */
    boolean assigns() throws Exception {
        for (var field : ServiceUnitStateChannelImpl.class.getDeclaredFields()) {
            if (field.getName().equals("pendingAssignPublishes")) {
                return !((Collection<?>) HeldStore.field(this, field.getName())).isEmpty();
            }
        }
        return false;
    }

    /** Whether it has begun to shut down. */
    boolean isDisabled() throws Exception {
        return HeldStore.field(this, "channelState").toString().equals("Disabled");
    }

    /** What waits by the clock does not wait. */
    static final class CutShort extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        CutShort(String why) {
            super(why);
        }
    }

    /** The copy of the records in the metadata store; what waits by the clock for a clean-up to show does not wait. */
    public static final class View extends ServiceUnitStateMetadataStoreTableViewImpl {
        private static final int IN_THE_WAIT = 50;
        private static final StackWalker FRAMES = StackWalker.getInstance();

        /** Since 5.0.1 that wait begins with another override of what is still owned, and waits for it by the clock, too. */
        @Override
        public CompletableFuture<Void> put(String unit, ServiceUnitStateData record) {
            if (FRAMES.walk(frames -> frames.anyMatch(each -> each.getMethodName().equals("waitForCleanups")))) {
                throw new CutShort("the wait for a clean-up to show is cut short");
            }
            return super.put(unit, record);
        }

        @Override
        public void flush(long millis) {
            if (millis == IN_THE_WAIT) {
                throw new CutShort("the wait for a clean-up to show is cut short");
            }
            super.flush(millis);
            if (Thread.currentThread() instanceof Leaving leaving) {
                leaving.hasRead();
            }
        }
    }
}
