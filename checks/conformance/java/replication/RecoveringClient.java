package org.apache.bookkeeper.client;

import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.TreeSet;
import org.apache.bookkeeper.meta.LedgerManagerFactory;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.net.BookieId;

/** The client of a worker or a command: its bookies are those that are up, and a step of the run chooses the one that replaces another. */
final class RecoveringClient extends GatedClient {
    /** Who says which bookie replaces another, or "nobody". */
    interface Choice {
        String of(String old) throws InterruptedException;
    }

    private LedgerManagerFactory factory;
    private Choice choice;
    /** The bookies that may not be chosen where a bookie is to be chosen. */
    private volatile Set<String> taken = Set.of();
    /** The bookie that is to be replaced there. */
    volatile String replaced = "";

    RecoveringClient(String name, LedgerBench bench) throws Exception {
        super(name, bench);
    }

    /** The client gets its tasks, and whom to ask for a bookie. */
    void connect(LedgerUnderreplicationManager tasks, Choice by) {
        choice = by;
        factory = (LedgerManagerFactory) Proxy.newProxyInstance(RecoveringClient.class.getClassLoader(),
                new Class<?>[] {LedgerManagerFactory.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "newLedgerUnderreplicationManager":
                            return tasks;
                        case "newLedgerManager":
                            return getLedgerManager();
                        default:
                            throw new UnsupportedOperationException(method.getName());
                    }
                });
    }

    @Override
    public LedgerManagerFactory getLedgerManagerFactory() {
        return factory;
    }

    @Override
    public boolean isBookieUnavailable(BookieId bookie) {
        return !bench.bookies.get(bookie.getId()).isUp();
    }

    @Override
    public Set<BookieId> getBookies() {
        Set<BookieId> up = super.getBookies();
        up.removeIf(this::isBookieUnavailable);
        return up;
    }

    @Override
    EnsemblePlacementPolicy getPlacementPolicy() {
        return (EnsemblePlacementPolicy) Proxy.newProxyInstance(RecoveringClient.class.getClassLoader(),
                new Class<?>[] {EnsemblePlacementPolicy.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("replaceBookie")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return chosen(ids(arguments[4]), (BookieId) arguments[5], ids(arguments[6]));
                });
    }

    /** The bookies that can be chosen now. */
    Set<String> choices() {
        Set<String> free = ids(getBookies());
        free.removeAll(taken);
        return free;
    }

    /** The bookie is to be replaced by one that is not in the ensemble. */
    void begins(String bookie, Set<String> ensemble) {
        replaced = bookie;
        taken = ensemble;
    }

    private static Set<String> ids(Object bookies) {
        Set<String> names = new TreeSet<>();
        for (Object bookie : (Iterable<?>) bookies) {
            names.add(((BookieId) bookie).getId());
        }
        return names;
    }

    /** What EnsemblePlacementPolicy.replaceBookie answers: a bookie that is neither of the ensemble nor excluded. */
    private Object chosen(Set<String> ensemble, BookieId old, Set<String> excluded) throws Exception {
        Set<String> none = new TreeSet<>(ensemble);
        none.addAll(excluded);
        taken = none;
        replaced = old.getId();
        try {
            String bookie = choice.of(replaced);
            if (bookie.equals("nobody")) {
                throw new BKException.BKNotEnoughBookiesException();
            }
            if (!choices().contains(bookie)) {
                throw new IllegalStateException(bookie + " is not among " + choices());
            }
            return EnsemblePlacementPolicy.PlacementResult.of(BookieId.parse(bookie),
                    EnsemblePlacementPolicy.PlacementPolicyAdherence.MEETS_STRICT);
        } catch (InterruptedException e) {
            // the policies that there are do not wait: a worker that is shut down goes on without a choice
            Thread.currentThread().interrupt();
            throw new BKException.BKNotEnoughBookiesException();
        } finally {
            replaced = "";
        }
    }
}
