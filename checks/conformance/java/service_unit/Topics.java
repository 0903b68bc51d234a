package org.apache.pulsar.metadata.coordination.impl;

import io.netty.channel.EventLoopGroup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.broker.service.TopicEventsDispatcher;
import org.apache.pulsar.broker.service.TopicLoadingContext;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.TopicName;
import org.apache.pulsar.common.util.FutureUtil;

/**
 * BrokerService, made without its constructor, with one topic for each unit: its map of topics, getTopic, unloadServiceUnit with its
 * timer, cleanUnloadedTopicFromCache and removeTopicFromCache are those of the release, and so are the topics.
 *
 * <p>What loads a topic that is not in the map is the harness's (loadOrCreatePersistentTopic: no ledger is opened, no policy read),
 * and the map of the topics' statistics stays empty, which removeTopicFromCache and refreshTopicToStatsMaps only clear.
 */
class Topics extends BrokerService {
    private static final MethodHandle OF_TOPICS = ofTopics();
    private static final CompletableFuture<Optional<Topic>> ABSENT = CompletableFuture.completedFuture(Optional.empty());

    private Layout layout;
    private Timers timers;
    /** The last topic that was loaded by each name, also if it is not in the map any more. */
    private Map<String, UnitTopic> loaded;
    private Map<String, TopicName> names;

    private Topics() throws Exception {
        super(null, null);
    }

    static Topics of(PulsarService pulsar, Layout layout) {
        Topics topics = Bare.of(Topics.class);
        topics.layout = layout;
        topics.timers = new Timers();
        topics.loaded = new ConcurrentHashMap<>();
        topics.names = new HashMap<>();
        Bare.set(BrokerService.class, topics, "pulsar", pulsar);
        Bare.set(BrokerService.class, topics, "topics", new ConcurrentHashMap<>());
        Bare.set(BrokerService.class, topics, "multiLayerTopicsMap", new ConcurrentHashMap<>());
        Bare.set(BrokerService.class, topics, "topicEventsDispatcher", new TopicEventsDispatcher());
        if (Bare.declares(BrokerService.class, "topicCacheRemovalsInProgress")) { // not older and newer releases
            Bare.set(BrokerService.class, topics, "topicCacheRemovalsInProgress", ConcurrentHashMap.newKeySet());
        }
        return topics;
    }

    // --- what can be seen

    /** The topic of a unit as its object, and whether the map has it, show it. */
    String state(NamespaceBundle unit) {
        TopicName name = name(unit);
        UnitTopic topic = loaded.get(name.toString());
        if (topic == null || !isOf(name, unit)) {
            return "closed";
        }
        if (BrokerService.extractTopic(getTopics().getOrDefault(name.toString(), ABSENT)).orElse(null) != topic) {
            return topic.isClosing() ? "late" : "closed";
        }
        String state = topic.state();
        return state.equals("detaching") && timersOf(name).noneMatch(each -> each.halfway) ? "lingering" : state;
    }

    private Stream<Timers.Timer> timersOf(TopicName name) {
        return timers.waiting().stream().filter(each -> each.unit.includes(name));
    }

    /** Whether the channel waits for the topic of a unit to close: what unloadServiceUnit returned is not done, nor its timer. */
    boolean closing(NamespaceBundle unit) {
        TopicName name = name(unit);
        return isOf(name, unit) && timersOf(name).findAny().isPresent();
    }

    /** Of two units that a topic can be of, as one is a half of the other, the one that the broker has in its layout. */
    private boolean isOf(TopicName name, NamespaceBundle unit) {
        return layout.bundle(name).equals(unit);
    }

    private synchronized TopicName name(NamespaceBundle unit) {
        return names.computeIfAbsent(unit.toString(), __ -> layout.topic(unit));
    }

    // --- steps

    /** A client is to be served: getTopic finds a topic, or loads it, and addProducer lets it in; returns why not, null if it is. */
    String open(NamespaceBundle unit) {
        CompletableFuture<Optional<Topic>> found = getTopic(name(unit), true, Map.of());
        return failure(found.thenCompose(topic -> ((UnitTopic) topic.orElseThrow()).serve()));
    }

    /** Why something has failed that waits for nothing; null if it has not. */
    private static String failure(CompletableFuture<?> done) {
        if (!done.isDone()) {
            return "it waits";
        }
        return done.handle((value, failure) -> failure == null ? null : FutureUtil.unwrapCompletionException(failure).toString())
                .join();
    }

    /** The ledger is closed, for a closing halfway; false if none waits for that. */
    boolean detach(NamespaceBundle unit) {
        UnitTopic topic = loaded.get(name(unit).toString());
        return topic != null && topic.endHalfway();
    }

    /** The ledger is closed, for every closing that waits for it; false if none waits that disconnects clients. */
    boolean close(NamespaceBundle unit) {
        UnitTopic topic = loaded.get(name(unit).toString());
        return topic != null && topic.end();
    }

    /** The time of the closings of a unit is up; false if there is none. */
    boolean timeOut(NamespaceBundle unit) {
        List<Timers.Timer> up = timersOf(name(unit)).toList();
        up.forEach(Timers.Timer::goOff);
        return !up.isEmpty();
    }

    /** A topic that did not close in time is closed; false if there is none. */
    boolean closeLate(NamespaceBundle unit) {
        return state(unit).equals("late") && close(unit);
    }

    // --- what a broker has

    @Override
    public EventLoopGroup executor() {
        return timers.executor;
    }

    @Override
    public CompletableFuture<Integer> unloadServiceUnit(
            NamespaceBundle unit, boolean disconnect, boolean hurry, long timeout, TimeUnit inUnits) {
        if (OF_TOPICS != null) { // it takes those that are of the bundle now, and closes them by the other
            return super.unloadServiceUnit(unit, disconnect, hurry, timeout, inUnits);
        }
        return timed(unit, disconnect, () -> super.unloadServiceUnit(unit, disconnect, hurry, timeout, inUnits));
    }

    /** Since 5.0.1 whoever closes a bundle says which topics. */
    @SuppressWarnings("unchecked")
    public CompletableFuture<Integer> unloadServiceUnit(NamespaceBundle unit, boolean disconnect, boolean hurry, long timeout,
            TimeUnit inUnits, Map<String, CompletableFuture<Optional<Topic>>> topics) {
        return timed(unit, disconnect, () -> {
            try {
                return (CompletableFuture<Integer>) OF_TOPICS.invoke(this, unit, disconnect, hurry, timeout, inUnits, topics);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** {@code unloadServiceUnit} of a release that takes the topics as an argument; null before 5.0.1. */
    private static MethodHandle ofTopics() {
        MethodType type = MethodType.methodType(CompletableFuture.class, NamespaceBundle.class, boolean.class, boolean.class,
                long.class, TimeUnit.class, Map.class);
        try {
            return MethodHandles.lookup().findSpecial(BrokerService.class, "unloadServiceUnit", type, Topics.class);
        } catch (ReflectiveOperationException before) {
            return null;
        }
    }

    private CompletableFuture<Integer> timed(NamespaceBundle unit, boolean disconnect, Supplier<CompletableFuture<Integer>> unload) {
        // PersistentTopic.close: who wants a topic closed halfway waits for what closes it entirely, if that is under way
        boolean halfway = !disconnect && loaded.values().stream()
                .noneMatch(each -> unit.includes(TopicName.get(each.getName())) && each.isClosingEntirely());
        return timers.of(unit, halfway, unload);
    }

    @Override
    protected CompletableFuture<Optional<Topic>> loadOrCreatePersistentTopic(TopicLoadingContext context) {
        UnitTopic topic = UnitTopic.of(context.getTopicName().toString(), this);
        topic.setCreateFuture(context.getTopicFuture());
        loaded.put(topic.getName(), topic);
        context.getTopicFuture().complete(Optional.of(topic));
        return context.getTopicFuture();
    }
}
