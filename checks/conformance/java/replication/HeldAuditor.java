package org.apache.bookkeeper.replication;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.client.api.LedgerMetadata;
import org.apache.bookkeeper.common.concurrent.FutureUtils;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.Processor;
import org.apache.bookkeeper.stats.NullStatsLogger;
import org.apache.bookkeeper.versioning.Versioned;
import org.apache.zookeeper.AsyncCallback;

/**
 * An Auditor with its thread, its known bookies and its AuditorBookieCheckTask, of one ledger. It hears of a change among the bookies
 * when a step says so, as Auditor.watchBookieChanges has it: by submitAuditTask.
 */
public final class HeldAuditor {
    /** What an audit meets. */
    public enum Failure { NONE, UNAVAILABLE, METADATA, MARK }

    private static final int SECONDS = 20;
    private final Auditor auditor;
    private final LedgerUnderreplicationManager tasks;
    private final Callable<Versioned<LedgerMetadata>> metadata;
    private final long ledger;
    private volatile Failure failure = Failure.NONE;
    /** How often it has been asked whether replication is enabled, since the audit began. */
    private volatile int asked;

    /** An auditor that knows the bookies that are up. */
    public HeldAuditor(ServerConfiguration conf, Clients clients, LedgerUnderreplicationManager tasks, long ledger,
            Callable<Versioned<LedgerMetadata>> metadata, Supplier<Set<BookieId>> up) throws Exception {
        this.tasks = tasks;
        this.ledger = ledger;
        this.metadata = metadata;
        BookKeeper client = clients.with(ledgers(), marks());
        BookKeeperAdmin admin = new BookKeeperAdmin(client, new ClientConfiguration(conf)) {
            @Override
            public Collection<BookieId> getAvailableBookies() {
                return new LinkedHashSet<>(up.get());
            }

            @Override
            public Collection<BookieId> getReadOnlyBookies() {
                return Set.of();
            }
        };
        auditor = new Auditor("auditor", conf, client, false, admin, false, NullStatsLogger.INSTANCE);
        hear(Failure.NONE);
    }

    /** Who makes the client of the auditor, with these managers. */
    public interface Clients {
        BookKeeper with(LedgerManager ledgers, LedgerUnderreplicationManager tasks) throws Exception;
    }

    /** The watch fires, and the audit meets the failure. */
    public void hear(Failure met) throws Exception {
        asked = 0;
        failure = met;
        auditor.submitAuditTask().get(SECONDS, TimeUnit.SECONDS);
        failure = Failure.NONE;
    }

    /** The check of all bookies, once in auditorPeriodicBookieCheckInterval. */
    public void check() {
        auditor.auditorBookieCheckTask.run();
    }

    /** The bookies that it knows. */
    @SuppressWarnings("unchecked")
    public Set<String> known() throws Exception {
        Field field = Auditor.class.getDeclaredField("knownBookies");
        field.setAccessible(true);
        return new HashSet<>((Collection<String>) field.get(auditor));
    }

    public boolean isRunning() {
        return auditor.isRunning();
    }

    public void close() {
        auditor.shutdown();
    }

    /** The ledgers of the metadata store: one. */
    @SuppressWarnings("unchecked")
    private LedgerManager ledgers() {
        return (LedgerManager) Proxy.newProxyInstance(HeldAuditor.class.getClassLoader(), new Class<?>[] {LedgerManager.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "asyncProcessLedgers":
                            AsyncCallback.VoidCallback end = (AsyncCallback.VoidCallback) arguments[1];
                            ((Processor<Long>) arguments[0]).process(ledger, (rc, path, context) ->
                                    end.processResult((int) (rc == BKException.Code.OK ? arguments[3] : arguments[4]), null, null));
                            return null;
                        case "readLedgerMetadata":
                            return failure == Failure.METADATA ? FutureUtils.exception(new BKException.ZKException())
                                    : CompletableFuture.completedFuture(metadata.call());
                        case "close":
                            return null;
                        default:
                            throw new UnsupportedOperationException(method.getName());
                    }
                });
    }

    /** The manager of tasks, which fails once the auditor has changed the bookies that it knows. */
    private LedgerUnderreplicationManager marks() {
        return (LedgerUnderreplicationManager) Proxy.newProxyInstance(HeldAuditor.class.getClassLoader(),
                new Class<?>[] {LedgerUnderreplicationManager.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        return null;
                    }
                    if (method.getName().equals("isLedgerReplicationEnabled") && ++asked > 1 && failure == Failure.UNAVAILABLE) {
                        throw new ReplicationException.UnavailableException("the store does not answer");
                    }
                    if (method.getName().equals("markLedgerUnderreplicatedAsync") && failure == Failure.MARK) {
                        return FutureUtils.exception(new ReplicationException.UnavailableException("the mark is not written"));
                    }
                    try {
                        return method.invoke(tasks, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
