package org.apache.bookkeeper.client;

import java.lang.reflect.Proxy;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.meta.LedgerManagerFactory;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;

/** The client of an auditor: it has the managers of ledgers and tasks that it is given. */
final class AuditingClient extends GatedClient {
    private final LedgerManagerFactory factory;

    AuditingClient(LedgerBench bench, LedgerManager ledgers, LedgerUnderreplicationManager tasks) throws Exception {
        super("auditor", bench);
        factory = (LedgerManagerFactory) Proxy.newProxyInstance(AuditingClient.class.getClassLoader(),
                new Class<?>[] {LedgerManagerFactory.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "newLedgerUnderreplicationManager":
                            return tasks;
                        case "newLedgerManager":
                            return ledgers;
                        default:
                            throw new UnsupportedOperationException(method.getName());
                    }
                });
    }

    @Override
    public LedgerManagerFactory getLedgerManagerFactory() {
        return factory;
    }
}
