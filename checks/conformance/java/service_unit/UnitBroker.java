package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.benmanes.caffeine.cache.AsyncCache;
import fencepost.Server;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateData;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateMetadataStoreTableViewImpl;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateTableView;
import org.apache.pulsar.broker.loadbalance.extensions.models.Split;
import org.apache.pulsar.broker.loadbalance.extensions.models.Unload;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.util.ObjectMapperFactory;
import org.apache.pulsar.metadata.api.CacheGetResult;

/** A broker as far as it has a channel of service units: its store, its channel, and what that finds around it. */
final class UnitBroker extends Client {
    static final int AN_HOUR_MILLIS = 3_600_000;

    private final PulsarResources resources;
    private final Map<String, String> units;
    private final Map<String, CompletableFuture<?>> timers = new HashMap<>();
    /** The brokers after which the clean-ups are that have not begun, in the order of what is kept in the executor. */
    private final List<String> toClean = new ArrayList<>();
    private final RecordRequests requests = new RecordRequests(this);
    private final SplitSteps splitting = new SplitSteps(this, requests);
    boolean multiPhase;
    private Surroundings around;
    private Channel channel;
    /** What shuts the broker down; null while nobody does. */
    private Leaving leaving;
    private boolean left;

    /** {@code units} are names of bundles by the names of the units. */
    UnitBroker(String name, Server server, UnitRequests concern, Map<String, String> units, PulsarResources resources) {
        super(name, server, concern);
        this.units = units;
        this.resources = resources;
        around = surroundings();
    }

    /** A unit that is not split is a bundle; of two of which one is a half of the other there is the whole. */
    private Surroundings surroundings() {
        boolean split = units.values().stream().anyMatch(each -> each.endsWith(Layout.WHOLE));
        return new Surroundings(name, split ? 1 : units.size());
    }

    @Override
    void start() throws Exception {
        super.start();
        Surroundings before = around;
        around = surroundings();
        around.registered.addAll(before.registered);
        around.leader = before.leader;
        var configuration = new ServiceConfiguration();
        configuration.setClusterName("conform");
        configuration.setLoadManagerServiceUnitStateTableViewClassName(Channel.View.class.getName());
        configuration.setLoadBalancerInFlightServiceUnitStateWaitingTimeInMillis(AN_HOUR_MILLIS);
        configuration.setMetadataStoreOperationTimeoutSeconds(AN_HOUR_MILLIS / 1000);
        configuration.setLoadBalancerMultiPhaseBundleUnload(multiPhase);
        channel = around.channel(store, resources, configuration);
        channel.start();
        timers.clear();
        requests.forget();
        toClean.clear();
        leaving = null;
        left = false;
    }

    @Override
    void gone() {
        super.gone();
        if (leaving != null) {
            leaving.interrupt();
        }
    }

    @Override
    boolean takes(String step, JsonNode request) throws Exception {
        if (!super.takes(step, request)) {
            return false;
        }
        switch (step) {
            case "lose", "learn":
                // what it had heard of is of no use to it, for it forgets what it knew
                store.dropNews();
                requests.becomeStale();
                break;
            case "start":
                if (request.path("split").asBoolean()) {
                    around.layout.learn();
                }
                break;
            case "resume", "reestablish":
                settle();
                requests.sendStale();
                break;
            default:
        }
        return true;
    }

    /** Who is in the registry from now on. */
    void register(Set<String> registered) {
        around.registered.clear();
        around.registered.addAll(registered);
    }

    /** Who leads from now on; null if nobody does. */
    void lead(String leader) {
        around.leader = leader;
    }

    String path(String unit) {
        return ServiceUnitStateMetadataStoreTableViewImpl.PATH_PREFIX + "/" + units.get(unit);
    }

    NamespaceBundle bundle(String unit) {
        String name = units.get(unit);
        int cut = name.lastIndexOf('/');
        return around.layout.bundles.getBundle(name.substring(0, cut), name.substring(cut + 1));
    }

    /** Takes a step of the channel; returns why it cannot be taken, null if it was. */
    String take(String step, String unit, JsonNode request) throws Exception {
        switch (step) {
            case "hear":
                return requests.hear(unit) ? null : name + " has nothing to read of " + unit;
            case "let":
                String what = request.path("what").asText();
                return requests.let(unit, what) ? null : name + " does not write " + what;
            case "fail":
                requests.fail(unit, request.path("what").asText());
                return null;
            case "assign":
                return assign(unit, request.path("to").asText());
            case "assign-late":
                publish(unit, request.path("to").asText());
                return null;
            case "wait":
                return look(unit);
            case "give-up":
                return giveUp(unit);
            case "end-lookup":
                return channel.lookups.endOne(units.get(unit)) ? null : "nothing is left to do for a lookup at " + name;
            case "unload":
                return unload(unit, request.path("from").asText(), Optional.ofNullable(request.path("to").textValue()));
            case "open":
                return open(unit);
            case "close":
                return around.topics.close(bundle(unit)) ? null : name + " waits for no topics of " + unit + " to close";
            case "detach":
                return around.topics.detach(bundle(unit)) ? null : name + " closes no topics of " + unit + " halfway";
            case "time-out":
                return around.topics.timeOut(bundle(unit)) ? null : name + " waits for no topics of " + unit + " to close";
            case "close-late":
                return around.topics.closeLate(bundle(unit)) ? null : name + " has no topics of " + unit + " that are late";
            case "settle":
                channel.settle();
                return null;
            case "schedule-clean-up":
                return scheduleCleanUp(request.path("broker").asText(), texts(request.path("others")));
            case "override":
                around.selectedFor = units.get(unit);
                around.selected = request.path("to").asText();
                return monitor(unit, request, true);
            case "tombstone-old":
                return monitor(unit, request, false);
            case "split":
                requests.writing(unit, () -> channel.publishSplitEventAsync(
                        new Split(units.get(unit), request.path("from").asText(), Layout.halves())));
                return null;
            case "own-half", "change-layout", "conflict", "fail-layout", "lose-layout", "learn-layout":
                return splitting.take(step, request.path("whole").asText(), unit, around);
            case "shut-down":
                leaving = new Leaving(channel);
                leaving.begin();
                return null;
            case "hand-over":
                return handOver(unit, request.path("to").textValue());
            case "leave":
                return leave();
            case "end":
                end();
                return null;
            case "clean-up":
                String to = request.path("to").textValue();
                return cleanUp(unit, request.path("broker").asText(), to, request.path("ill").asBoolean());
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    // --- lookups

    private String assign(String unit, String to) throws Exception {
        CompletableFuture<Optional<String>> owner = channel.getOwnerAsync(units.get(unit));
        if (!owner.isDone() || owner.isCompletedExceptionally() || owner.join().isPresent()) {
            return name + " does not select an owner for " + unit + ": " + owner;
        }
        around.selectedFor = units.get(unit);
        around.selected = to;
        timed(unit, () -> requests.writing(unit, () -> around.loadManager().lookUp(channel, bundle(unit))));
        return null;
    }

    private void publish(String unit, String to) throws Exception {
        timed(unit, () -> requests.writing(unit, () -> channel.publishAssignEventAsync(units.get(unit), to)));
    }

    private String look(String unit) throws Exception {
        timed(unit, () -> channel.getOwnerAsync(units.get(unit)));
        return null;
    }

    private void timed(String unit, RecordRequests.Action action) throws Exception {
        Timeouts.during(action).forEach(each -> timers.put(unit, each));
    }

    /** The time of the lookup that waits is up. */
    private String giveUp(String unit) {
        CompletableFuture<?> timer = timers.remove(unit);
        return timer != null && timer.completeExceptionally(new TimeoutException()) ? null : "no lookup waits at " + name;
    }

    private String unload(String unit, String from, Optional<String> to) throws Exception {
        requests.writing(unit, () -> channel.publishUnloadEventAsync(new Unload(from, units.get(unit), to)));
        return null;
    }

    private String open(String unit) {
        if (!channel.isOwner(units.get(unit))) {
            return name + " does not take itself for the owner of " + unit;
        }
        String refused = around.topics.open(bundle(unit));
        return refused == null ? null : name + " does not serve the topic of " + unit + ": " + refused;
    }

    // --- the leader

    /** The monitor finds that a broker is not there: the clean-up after it is to be done. */
    private String scheduleCleanUp(String missed, List<String> others) throws Exception {
        if (channel.cleaned().contains(missed)) {
            return name + " has not ended the last clean-up after " + missed;
        }
        channel.monitor(others, false, false);
        channel.calm();
        if (!channel.cleaned().contains(missed)) {
            return name + " does not clean up after " + missed;
        }
        Server.until("clean-up", () -> around.jobs.waiting() > toClean.size());
        toClean.add(missed);
        return null;
    }

    /** The monitor finds what is overdue, or else what is old. */
    private String monitor(String unit, JsonNode request, boolean overdue) throws Exception {
        requests.aside(unit, () -> channel.monitor(texts(request.path("others")), overdue, !overdue));
        channel.calm();
        return null;
    }

    private String cleanUp(String unit, String after, String to, boolean ill) throws Exception {
        int place = toClean.indexOf(after);
        if (place < 0) {
            return name + " is not about to clean up after " + after;
        }
        toClean.remove(place);
        Runnable job = around.jobs.take(place);
        around.selectedFor = units.get(unit);
        around.selected = to;
        around.ill.clear();
        if (ill) {
            around.ill.add(after);
        }
        requests.aside(unit, job::run);
        return null;
    }

    // --- a shutdown

    /** It looks at what it owns, and hands that over to the broker that is selected, or to nobody. */
    private String handOver(String unit, String to) throws Exception {
        if (leaving == null || !leaving.isToLook()) {
            return name + " hands nothing over";
        }
        around.selectedFor = units.get(unit);
        around.selected = to;
        requests.writing(unit, () -> {
            leaving.look();
            RecordRequests.until(leaving);
        });
        return null;
    }

    /** Whether it has handed over, and waits to read what it has written. */
    private boolean awaits() {
        return leaving != null && leaving.hasLooked() && units.keySet().stream().anyMatch(requests::isRead);
    }

    private String leave() {
        if (leaving == null || leaving.isAlive()) {
            return name + " has not handed over everything";
        }
        left = true;
        return null;
    }

    /** How far the broker is with shutting down, as the model has it. */
    private String stage() throws Exception {
        if (!channel.isDisabled()) {
            return "runs";
        }
        return left ? "unregistered" : leaving.isToLook() || leaving.hasLooked() ? "disabled" : "skips";
    }

    // --- what can be seen

    @Override
    boolean pass() {
        return false;
    }

    /** The version of what the cache has of a node, by which writes are decided; null if it has nothing. */
    @SuppressWarnings("unchecked")
    private static Long cached(ServiceUnitStateTableView view, String path) throws Exception {
        Object cache = HeldStore.field(HeldStore.field(view, "tableview"), "cache");
        var known = (AsyncCache<String, Optional<CacheGetResult<ServiceUnitStateData>>>) HeldStore.field(cache, "objCache");
        var found = known.getIfPresent(path);
        if (found == null || !found.isDone() || found.isCompletedExceptionally()) {
            return null;
        }
        return found.join().map(each -> each.getValue().versionId()).orElse(0L);
    }

    @Override
    void tell(ObjectNode told) throws Exception {
        super.tell(told);
        if (!lives()) {
            return;
        }
        told.put("metadata", channel.metadata());
        told.put("leader", channel.getChannelOwnerAsync().join().orElse(null));
        ArrayNode jobs = told.putArray("to_clean");
        toClean.forEach(jobs::add);
        ArrayNode cleaning = told.putArray("cleaning");
        channel.cleaned().forEach(each -> cleaning.add((String) each));
        if (leaving != null && leaving.hasLooked() && !awaits()) {
            leaving.end();
        }
        told.put("awaits", awaits());
        told.put("assigns", channel.assigns());
        told.put("stage", stage());
        told.put("hands_over", leaving != null && leaving.isToLook());
        List<String> all = List.copyOf(units.keySet());
        told.put("split_stage", all.size() < 2 ? "none" : splitting.stage(all.get(0), all.get(1), around.layout));
        ObjectNode each = told.putObject("units");
        for (String unit : units.keySet()) {
            tell(unit, each.putObject(unit));
        }
    }

    private void tell(String unit, ObjectNode told) throws Exception {
        String path = path(unit);
        var view = (ServiceUnitStateTableView) HeldStore.field(channel, "tableview");
        ServiceUnitStateData record = view.get(units.get(unit));
        if (record != null) {
            told.set("view", ObjectMapperFactory.getMapper().getObjectMapper().valueToTree(record));
        }
        Long cached = cached(view, path);
        if (cached != null) {
            told.put("cached", cached);
        }
        told.put("news", store.hasNews(path) || !requests.reads(unit).isEmpty());
        told.put("own_read", !requests.reads(unit).isEmpty());
        told.put("pending", channel.lookups.isPending(units.get(unit)));
        told.put("dropped", channel.lookups.hasDropped(units.get(unit)));
        told.put("ended_late", channel.lookups.hasLate(units.get(unit)));
        told.put("topics", around.topics.state(bundle(unit)));
        told.put("closing", around.topics.closing(bundle(unit)));
        ArrayNode writes = told.putArray("requests");
        requests.writes(unit).forEach(writes::add);
    }
}
