package org.apache.pulsar.metadata.coordination.impl;

import fencepost.Refused;
import io.netty.channel.EventLoopGroup;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.broker.service.TopicEventsDispatcher;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.TopicName;

/**
 * The topics of a broker, one for each bundle at most. What opens, closes and forgets them is BrokerService's own, which is made
 * without its constructor; an unload's timeout comes when it is told to.
 */
final class HeldTopics extends BrokerService {
    private Map<String, CompletableFuture<Optional<Topic>>> served;
    private Map<NamespaceBundle, HeldTopic> opened;
    private Map<NamespaceBundle, List<Runnable>> timeouts;
    private EventLoopGroup later;

    private HeldTopics() throws Exception {
        super(null, null);
    }

    static HeldTopics none(PulsarService pulsar) throws Exception {
        HeldTopics topics = Bare.of(HeldTopics.class);
        topics.served = new ConcurrentHashMap<>();
        topics.opened = new HashMap<>();
        topics.timeouts = new HashMap<>();
        topics.later = topics.later();
        Bare.set(BrokerService.class, topics, "pulsar", pulsar);
        Bare.set(BrokerService.class, topics, "topics", topics.served);
        Bare.set(BrokerService.class, topics, "multiLayerTopicsMap", new ConcurrentHashMap<>());
        Bare.set(BrokerService.class, topics, "topicEventsDispatcher", new TopicEventsDispatcher());
        if (Bare.declares(BrokerService.class, "topicCacheRemovalsInProgress")) { // not older and newer releases
            Bare.set(BrokerService.class, topics, "topicCacheRemovalsInProgress", ConcurrentHashMap.newKeySet());
        }
        return topics;
    }

    /** What schedules an unload's timeout; it can be cancelled. */
    private EventLoopGroup later() {
        var scheduled = Proxy.newProxyInstance(HeldTopics.class.getClassLoader(),
                new Class<?>[] {io.netty.util.concurrent.ScheduledFuture.class}, (proxy, method, arguments) -> true);
        return (EventLoopGroup) Proxy.newProxyInstance(HeldTopics.class.getClassLoader(), new Class<?>[] {EventLoopGroup.class},
                (proxy, method, arguments) -> {
                    if (!method.getName().equals("schedule")) {
                        throw new UnsupportedOperationException(method.toString());
                    }
                    timeouts.computeIfAbsent(bundleOf(arguments[0]), each -> new ArrayList<>()).add((Runnable) arguments[0]);
                    return scheduled;
                });
    }

    /** The bundle of which a timeout speaks when it comes. */
    private static NamespaceBundle bundleOf(Object timeout) throws IllegalAccessException {
        for (Field each : timeout.getClass().getDeclaredFields()) {
            if (NamespaceBundle.class.isAssignableFrom(each.getType())) {
                each.setAccessible(true);
                return (NamespaceBundle) each.get(timeout);
            }
        }
        throw new IllegalStateException("no timeout of an unload: " + timeout);
    }

    @Override
    public EventLoopGroup executor() {
        return later;
    }

    @Override
    public void refreshTopicToStatsMaps(NamespaceBundle bundle) {
        // no load is reported
    }

    /** A client asks for a topic of the bundle. */
    void open(NamespaceBundle bundle, String name) throws Exception {
        try {
            checkTopicNsOwnership(name).get(HeldStore.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new Refused(e.getCause().toString());
        }
        HeldTopic topic = HeldTopic.named(name);
        opened.put(bundle, topic);
        served.put(name, topic.opened());
    }

    boolean isOpen(NamespaceBundle bundle) {
        return opened.containsKey(bundle);
    }

    /** Whether the broker knows a topic of the bundle that is not open. */
    boolean isKept(NamespaceBundle bundle) {
        return !isOpen(bundle) && served.keySet().stream().anyMatch(name -> bundle.includes(TopicName.get(name)));
    }

    boolean isClosing(NamespaceBundle bundle) {
        return isOpen(bundle) && opened.get(bundle).isClosing();
    }

    /** The topic of the bundle closes, as it was asked to, or fails to. */
    void end(NamespaceBundle bundle, boolean fails) throws Exception {
        if (!isClosing(bundle)) {
            throw new Refused("no topic of the bundle is closing");
        }
        HeldTopic topic = opened.remove(bundle);
        if (!fails) {
            removeTopicFromCache(topic).get(HeldStore.SECONDS, TimeUnit.SECONDS);
        }
        topic.end(fails);
    }

    /** An unload of the bundle has waited long enough. */
    void timeOut(NamespaceBundle bundle) throws Exception {
        List<Runnable> due = timeouts.remove(bundle);
        if (due == null) {
            throw new Refused("nobody waits for the topics of the bundle");
        }
        due.forEach(Runnable::run);
    }
}
