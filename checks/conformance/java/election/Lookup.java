package org.apache.pulsar.metadata.coordination.impl;

import com.google.common.collect.BoundType;
import com.google.common.collect.Range;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pulsar.broker.loadbalance.LeaderBroker;
import org.apache.pulsar.broker.loadbalance.LeaderElectionService;
import org.apache.pulsar.broker.loadbalance.LoadManager;
import org.apache.pulsar.broker.loadbalance.ResourceUnit;
import org.apache.pulsar.broker.lookup.LookupResult;
import org.apache.pulsar.broker.namespace.LookupOptions;
import org.apache.pulsar.broker.namespace.NamespaceEphemeralData;
import org.apache.pulsar.broker.namespace.NamespaceService;
import org.apache.pulsar.broker.namespace.OwnershipCache;
import org.apache.pulsar.common.naming.NamespaceBundle;
import org.apache.pulsar.common.naming.NamespaceBundleFactory;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;
import org.apache.pulsar.metadata.api.coordination.LeaderElectionState;

/**
 * What a broker makes of the lookup of a bundle that nobody owns: NamespaceService.searchForCandidateBroker over its election. Of
 * the broker around it there are the load manager, whose choice is made by the step, and the OwnershipCache, which is only asked.
 */
final class Lookup extends NamespaceService {
    private static final NamespaceBundle BUNDLE = new NamespaceBundle(NamespaceName.get("conform/lookups"),
            Range.range(0L, BoundType.CLOSED, 0xffffffffL, BoundType.CLOSED), Bare.of(NamespaceBundleFactory.class));

    private String name;
    private Set<String> active;
    private String choice;
    private boolean chose;
    private boolean authoritative;
    private String next;

    private Lookup() {
        super(null);
    }

    /** The lookups of a broker with that name, election and executor. */
    static Lookup at(String name, LeaderElectionImpl<String> election, ScheduledExecutorService executor) throws Exception {
        Lookup lookup = Bare.of(Lookup.class);
        lookup.name = name;
        var none = (CoordinationService) Proxy.newProxyInstance(Lookup.class.getClassLoader(),
                new Class<?>[] {CoordinationService.class}, (proxy, method, arguments) -> null);
        Pulsar pulsar = Bare.of(Pulsar.class);
        pulsar.name(name, none);
        pulsar.executor = executor;
        pulsar.election = new Elected(none, election);
        Cache cache = Bare.of(Cache.class);
        cache.lookup = lookup;
        Bare.set(NamespaceService.class, lookup, "pulsar", pulsar);
        Bare.set(NamespaceService.class, lookup, "config", pulsar.getConfiguration());
        Bare.set(NamespaceService.class, lookup, "ownershipCache", cache);
        Bare.set(NamespaceService.class, lookup, "loadManager", new AtomicReference<>(lookup.loadManager()));
        return lookup;
    }

    /** A lookup begins; {@code choice} is what the load manager would choose among the {@code active} brokers. */
    void begin(boolean authoritative, Set<String> active, String choice) {
        this.active = active;
        this.choice = choice;
        this.chose = false;
        this.next = null;
        try {
            search().invoke(this, BUNDLE, new CompletableFuture<Optional<LookupResult>>(),
                    LookupOptions.builder().authoritative(authoritative).build());
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** The method alone: others of its class name classes that are not there. */
    private static MethodHandle search() throws ReflectiveOperationException {
        return MethodHandles.privateLookupIn(NamespaceService.class, MethodHandles.lookup()).findVirtual(NamespaceService.class,
                "searchForCandidateBroker",
                MethodType.methodType(void.class, NamespaceBundle.class, CompletableFuture.class, LookupOptions.class));
    }

    /** Whether the load manager was asked. */
    boolean hasChosen() {
        return chose;
    }

    /** The broker that the lookup goes on to, or this one, which sets out to acquire the bundle; null while neither is known. */
    String next() {
        return next;
    }

    /** Whether the lookup goes on as one that need not ask for the leader again. */
    boolean isAuthoritative() {
        return authoritative;
    }

    private CompletableFuture<LookupResult> goesOn(String broker, boolean decided) {
        authoritative = decided;
        next = broker;
        return new CompletableFuture<>();
    }

    public CompletableFuture<LookupResult> createLookupResult(String broker, boolean decided, String listener) {
        return goesOn(broker, decided);
    }

    /** The same in 5.0. */
    public CompletableFuture<LookupResult> createLookupResult(String broker, boolean decided, LookupOptions options) {
        return goesOn(broker, decided);
    }

    private LoadManager loadManager() {
        return (LoadManager) Proxy.newProxyInstance(Lookup.class.getClassLoader(), new Class<?>[] {LoadManager.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "isCentralized" -> true;
                    case "getAvailableBrokers" -> active;
                    case "getLeastLoaded" -> {
                        chose = true;
                        yield Optional.of(unit(choice));
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static ResourceUnit unit(String broker) {
        return (ResourceUnit) Proxy.newProxyInstance(Lookup.class.getClassLoader(), new Class<?>[] {ResourceUnit.class},
                (proxy, method, arguments) -> method.getName().equals("getResourceId") ? broker : null);
    }

    private static final class Cache extends OwnershipCache {
        private Lookup lookup;

        private Cache() {
            super(null, null);
        }

        @Override
        public CompletableFuture<NamespaceEphemeralData> tryAcquiringOwnership(NamespaceBundle bundle) {
            lookup.next = lookup.name;
            return new CompletableFuture<>();
        }
    }

    private static final class Pulsar extends UnstartedService {
        private ScheduledExecutorService executor;
        private LeaderElectionService election;

        @Override
        public ScheduledExecutorService getExecutor() {
            return executor;
        }

        @Override
        public LeaderElectionService getLeaderElectionService() {
            return election;
        }
    }

    /** The service of an election whose values are names. */
    private static final class Elected extends LeaderElectionService {
        private final LeaderElectionImpl<String> election;

        private Elected(CoordinationService none, LeaderElectionImpl<String> election) {
            super(none, "", "", state -> { });
            this.election = election;
        }

        private static Optional<LeaderBroker> broker(Optional<String> name) {
            return name.map(each -> new LeaderBroker(each, each));
        }

        @Override
        public CompletableFuture<Optional<LeaderBroker>> readCurrentLeader() {
            return election.getLeaderValue().thenApply(Elected::broker);
        }

        @Override
        public Optional<LeaderBroker> getCurrentLeader() {
            return broker(election.getLeaderValueIfPresent());
        }

        @Override
        public boolean isLeader() {
            return election.getState() == LeaderElectionState.Leading;
        }
    }
}
