package org.apache.pulsar.metadata.coordination.impl;

import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.loadbalance.LeaderBroker;
import org.apache.pulsar.broker.loadbalance.LeaderElectionService;
import org.apache.pulsar.broker.loadbalance.LoadManager;
import org.apache.pulsar.broker.loadbalance.extensions.BrokerRegistry;
import org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl;
import org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerWrapper;
import org.apache.pulsar.broker.loadbalance.extensions.LoadManagerContext;
import org.apache.pulsar.broker.loadbalance.extensions.channel.ServiceUnitStateChannel;
import org.apache.pulsar.broker.loadbalance.extensions.data.BrokerLookupData;
import org.apache.pulsar.broker.loadbalance.extensions.models.AssignCounter;
import org.apache.pulsar.broker.loadbalance.extensions.store.LoadDataStore;
import org.apache.pulsar.broker.namespace.LookupOptions;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.broker.resources.TopicResources;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.TopicPoliciesService;
import org.apache.pulsar.client.admin.Brokers;
import org.apache.pulsar.client.admin.PulsarAdmin;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.ServiceUnitId;
import org.apache.pulsar.common.naming.TopicName;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/**
 * What a channel asks of the broker around it. The answers are set for each step: who is registered, who leads, which broker is
 * selected, and which ones are ill.
 */
final class Surroundings {
    final String broker;
    final Topics topics;
    /** Where clean-ups are begun. */
    final Jobs jobs = new Jobs();
    final Layout layout;
    final Set<String> registered = new HashSet<>();
    String leader;
    String selected;
    /** The only unit for which a broker is selected. */
    String selectedFor;
    final Set<String> ill = new HashSet<>();
    private final Pulsar pulsar = Bare.of(Pulsar.class);
    private Channel channel;

    /** Those of a broker whose namespace has so many bundles. */
    Surroundings(String broker, int bundles) {
        this.broker = broker;
        pulsar.around = this;
        layout = new Layout(bundles, unit -> channel.isOwner(unit.toString()));
        topics = Topics.of(pulsar, layout);
    }

    /** The channel over a store, with all this around it. */
    Channel channel(MetadataStoreExtended store, PulsarResources resources, ServiceConfiguration configuration)
            throws Exception {
        pulsar.store = store;
        pulsar.resources = resources;
        pulsar.configuration = configuration;
        pulsar.loadManager = new AtomicReference<>(new ExtensibleLoadManagerWrapper(loadManager()));
        channel = new Channel(pulsar, this);
        return channel;
    }

    BrokerRegistry registry() {
        return answering(BrokerRegistry.class, (name, arguments) -> {
            switch (name) {
                case "isRegistered":
                    return registered.contains(broker);
                case "getAvailableBrokersAsync":
                    return CompletableFuture.completedFuture(List.copyOf(registered));
                case "lookupAsync":
                    Optional<BrokerLookupData> found = registered.contains((String) arguments[0])
                            ? Optional.of(Bare.of(BrokerLookupData.class)) : Optional.empty();
                    return CompletableFuture.completedFuture(found);
                default:
                    return null;
            }
        });
    }

    LeaderElectionService election() {
        Election election = Bare.of(Election.class);
        election.around = this;
        return election;
    }

    Selector loadManager() {
        Selector manager = Bare.of(Selector.class);
        manager.around = this;
        return manager;
    }

    LoadManagerContext context() {
        LoadDataStore<?> none = answering(LoadDataStore.class, (name, arguments) -> CompletableFuture.completedFuture(null));
        return answering(LoadManagerContext.class, (name, arguments) -> name.endsWith("LoadDataStore") ? none : null);
    }

    PulsarAdmin admin() {
        Brokers brokers = answering(Brokers.class, (name, arguments) -> {
            String asked = ((Optional<?>) arguments[arguments.length - 1]).orElseThrow().toString();
            return ill.contains(asked) ? CompletableFuture.failedFuture(new IllegalStateException(asked + " is ill"))
                    : CompletableFuture.completedFuture(null);
        });
        return answering(PulsarAdmin.class, (name, arguments) -> name.equals("brokers") ? brokers : null);
    }

    private interface Answer {
        Object to(String method, Object[] arguments);
    }

    private static <T> T answering(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(Surroundings.class.getClassLoader(), new Class<?>[] {type},
                (proxy, method, arguments) -> answer.to(method.getName(), arguments)));
    }

    static final class Pulsar extends PulsarService {
        private Surroundings around;
        private MetadataStoreExtended store;
        private PulsarResources resources;
        private ServiceConfiguration configuration;
        private AtomicReference<LoadManager> loadManager;

        private Pulsar() {
            super(null);
        }

        @Override
        public ServiceConfiguration getConfig() {
            return configuration;
        }

        @Override
        public ServiceConfiguration getConfiguration() {
            return configuration;
        }

        @Override
        public String getBrokerId() {
            return around.broker;
        }

        @Override
        public PulsarResources getPulsarResources() {
            return resources;
        }

        @Override
        public MetadataStoreExtended getLocalMetadataStore() {
            return store;
        }

        @Override
        public NamespaceService getNamespaceService() {
            return around.layout.namespaces;
        }

        @Override
        public BrokerService getBrokerService() {
            return around.topics;
        }

        @Override
        public AtomicReference<LoadManager> getLoadManager() {
            return loadManager;
        }

        @Override
        public TopicPoliciesService getTopicPoliciesService() {
            return TopicPoliciesService.DISABLED;
        }

        @Override
        public ScheduledExecutorService getLoadManagerExecutor() {
            return around.jobs;
        }

        @Override
        public ScheduledExecutorService getExecutor() {
            return around.jobs;
        }
    }

    static final class Election extends LeaderElectionService {
        private Surroundings around;

        private Election() {
            super(null, null, null, null);
        }

        @Override
        public CompletableFuture<Optional<LeaderBroker>> readCurrentLeader() {
            String leader = around.leader;
            return CompletableFuture.completedFuture(
                    leader == null ? Optional.empty() : Optional.of(new LeaderBroker(leader, "http://" + leader)));
        }
    }

    /** The load manager, which selects the broker that the step names; all else of a lookup is its own. */
    static final class Selector extends ExtensibleLoadManagerImpl {
        private Surroundings around;

        /** Looks up who owns a unit, or selects somebody and writes that. */
        void lookUp(ServiceUnitStateChannel channel, NamespaceBundle unit) throws Exception {
            Bare.set(ExtensibleLoadManagerImpl.class, this, "serviceUnitStateChannel", channel);
            Bare.set(ExtensibleLoadManagerImpl.class, this, "assignCounter", new AssignCounter());
            var method = ExtensibleLoadManagerImpl.class.getDeclaredMethod(
                    "getOrSelectOwnerAsync", ServiceUnitId.class, String.class, LookupOptions.class);
            method.setAccessible(true);
            method.invoke(this, unit, unit.toString(), LookupOptions.builder().build());
        }

        @Override
        public CompletableFuture<Optional<String>> selectAsync(ServiceUnitId unit, Set<String> without, LookupOptions options) {
            if (!unit.toString().equals(around.selectedFor)) {
                return CompletableFuture.failedFuture(new IllegalStateException("nobody is selected in this step"));
            }
            return CompletableFuture.completedFuture(Optional.ofNullable(around.selected));
        }

        @Override
        public ServiceUnitStateChannel getServiceUnitStateChannel() {
            return around.channel;
        }

        @Override
        public BrokerRegistry getBrokerRegistry() {
            return around.registry();
        }
    }

    /** The topics in the metadata store: whichever is asked for has been written there. */
    static final class Written extends TopicResources {
        private Written() {
            super(null);
        }

        @Override
        public CompletableFuture<Boolean> persistentTopicExists(TopicName topic) {
            return CompletableFuture.completedFuture(true);
        }
    }
}
