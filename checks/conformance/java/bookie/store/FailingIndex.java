package org.apache.bookkeeper.bookie;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.apache.bookkeeper.bookie.storage.ldb.KeyValueStorage;

/** While this is open, the index of ledgers of a directory of a DbLedgerStorage cannot write the last update that it has of one ledger. */
final class FailingIndex implements AutoCloseable {
    private final Object index;
    private final Field field;
    private final Object store;
    /** The updates of the ledger that are on the queue; the last of them has all that the others have. */
    private long updates;

    FailingIndex(LedgerStorage directory, long ledger) throws ReflectiveOperationException {
        Field indexes = directory.getClass().getDeclaredField("ledgerIndex");
        indexes.setAccessible(true);
        index = indexes.get(directory);
        field = index.getClass().getDeclaredField("ledgersDb");
        field.setAccessible(true);
        store = field.get(index);
        Field queue = index.getClass().getDeclaredField("pendingLedgersUpdates");
        queue.setAccessible(true);
        updates = ((Collection<?>) queue.get(index)).stream().filter(each -> ((Map.Entry<?, ?>) each).getKey().equals(ledger)).count();
        InvocationHandler fails = (self, method, arguments) -> {
            if (method.getName().equals("put") && ByteBuffer.wrap((byte[]) arguments[0]).getLong() == ledger && --updates == 0) {
                throw new IOException("no space left on device");
            }
            try {
                return method.invoke(store, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        field.set(index, Proxy.newProxyInstance(KeyValueStorage.class.getClassLoader(), new Class<?>[] {KeyValueStorage.class}, fails));
    }

    @Override
    public void close() throws ReflectiveOperationException {
        field.set(index, store);
    }
}
