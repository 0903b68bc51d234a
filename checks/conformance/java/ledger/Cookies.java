package org.apache.bookkeeper.client;

import java.io.File;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.bookkeeper.bookie.BookieException;
import org.apache.bookkeeper.bookie.BookieImpl;
import org.apache.bookkeeper.bookie.LegacyCookieValidation;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.discover.RegistrationManager;
import org.apache.bookkeeper.util.BookKeeperConstants;
import org.apache.bookkeeper.versioning.LongVersion;
import org.apache.bookkeeper.versioning.Versioned;

/** What the metadata store and the directories know of a bookie, whose disk is lost. */
final class Cookies {
    private final LegacyCookieValidation check;
    private final List<File> directories = new ArrayList<>();
    private Versioned<byte[]> stored;

    Cookies(ServerConfiguration conf) throws Exception {
        RegistrationManager store = (RegistrationManager) Proxy.newProxyInstance(RegistrationManager.class.getClassLoader(),
                new Class<?>[] {RegistrationManager.class}, (self, method, arguments) -> {
                    switch (method.getName()) {
                        case "getClusterInstanceId": return "cluster";
                        case "readCookie":
                            if (stored == null) {
                                throw new BookieException.CookieNotFoundException("no cookie");
                            }
                            return stored;
                        case "writeCookie":
                            stored = new Versioned<>(((Versioned<?>) arguments[1]).getValue() instanceof byte[]
                                    ? (byte[]) ((Versioned<?>) arguments[1]).getValue() : null, new LongVersion(0));
                            return null;
                        default: throw new UnsupportedOperationException(method.getName());
                    }
                });
        check = new LegacyCookieValidation(conf, store);
        Collections.addAll(directories, BookieImpl.getCurrentDirectories(conf.getJournalDirs()));
        Collections.addAll(directories, BookieImpl.getCurrentDirectories(conf.getLedgerDirs()));
        for (File each : directories) {
            BookieImpl.checkDirectoryStructure(each);
        }
    }

    /** The bookie starts for the first time: it stamps a cookie. Then its directories are empty again. */
    void stampAndWipe() throws Exception {
        check.checkCookies(directories);
        for (File each : directories) {
            if (!new File(each, BookKeeperConstants.VERSION_FILENAME).delete()) {
                throw new IllegalStateException("there is no cookie in " + each);
            }
        }
    }

    /** The operator deletes the bookie's cookie. */
    void delete() {
        stored = null;
    }

    /** Whether the bookie would start: its cookies are as they should be. */
    boolean allow() throws Exception {
        try {
            check.checkCookies(directories);
            return true;
        } catch (BookieException.InvalidCookieException e) {
            return false;
        }
    }
}
