package org.apache.bookkeeper.bookie;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.bookkeeper.bookie.storage.EntryLogger;
import org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage;

/** While this is open, the entry log of a directory of a DbLedgerStorage cannot be flushed, as on a full disk. */
public final class FailingFlush implements AutoCloseable {
    private final LedgerStorage directory;
    private final Field field;
    private final Object entryLog;

    FailingFlush(LedgerStorage directory) throws ReflectiveOperationException {
        this.directory = directory;
        field = directory.getClass().getDeclaredField("entryLogger");
        field.setAccessible(true);
        entryLog = field.get(directory);
        InvocationHandler fails = (self, method, arguments) -> {
            if (method.getName().equals("flush")) {
                throw new IOException("no space left on device");
            }
            return method.invoke(entryLog, arguments);
        };
        Class<?>[] kinds = {EntryLogger.class};
        field.set(directory, Proxy.newProxyInstance(EntryLogger.class.getClassLoader(), kinds, fails));
    }

    /** That of the first directory of a bookie. */
    public static FailingFlush of(BookieImpl bookie) throws ReflectiveOperationException {
        Field list = DbLedgerStorage.class.getDeclaredField("ledgerStorageList");
        list.setAccessible(true);
        return new FailingFlush((LedgerStorage) ((List<?>) list.get(bookie.getLedgerStorage())).get(0));
    }

    @Override
    public void close() throws ReflectiveOperationException {
        field.set(directory, entryLog);
    }
}
