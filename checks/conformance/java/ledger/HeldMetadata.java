package org.apache.bookkeeper.client;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.bookkeeper.client.api.LedgerMetadata;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.meta.LedgerMetadataSerDe;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.LedgerMetadataListener;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.Processor;
import org.apache.bookkeeper.versioning.LongVersion;
import org.apache.bookkeeper.versioning.Version;
import org.apache.bookkeeper.versioning.Versioned;
import org.apache.zookeeper.AsyncCallback;

/** The metadata store: serialized metadata with a version each, and the operations on them, which are held. */
final class HeldMetadata {
    private final LedgerMetadataSerDe format = new LedgerMetadataSerDe();
    private final Map<Long, Versioned<byte[]>> stored = new HashMap<>();
    /** The threads of clients add to it, while the harness reads it. */
    final List<Operation> operations = new CopyOnWriteArrayList<>();
    private final Map<LedgerMetadataListener, Listening> listeners = new ConcurrentHashMap<>();
    /** Whether handles hear of changes at once; otherwise never, and a reader is opened again whenever it reads. */
    boolean notifies;

    private record Listening(long ledger, GatedClient owner) {
    }

    /** The metadata as they are now; null if there are none. */
    Versioned<LedgerMetadata> of(long ledger) throws Exception {
        Versioned<byte[]> now = stored.get(ledger);
        return now == null ? null
                : new Versioned<>(format.parseConfig(now.getValue(), ledger, Optional.empty()), now.getVersion());
    }

    void clear() {
        stored.clear();
        operations.clear();
        listeners.clear();
    }

    /** The first operation of a client of which it has not heard, null if there is none. */
    Operation next(GatedClient owner) {
        return operations.stream().filter(o -> o.owner == owner && !o.told && !o.abandoned).findFirst().orElse(null);
    }

    /** One operation: done by the store, and heard of by the client, when it is told to. */
    final class Operation {
        final GatedClient owner;
        final String kind;
        private final long ledger;
        private final LedgerMetadata wanted;
        private final Version expected;
        private final CompletableFuture<Versioned<LedgerMetadata>> future = new CompletableFuture<>();
        boolean done;
        boolean told;
        boolean abandoned;
        Exception failure;
        private Versioned<LedgerMetadata> result;

        private Operation(GatedClient owner, String kind, long ledger, LedgerMetadata wanted, Version expected) {
            this.owner = owner;
            this.kind = kind;
            this.ledger = ledger;
            this.wanted = wanted;
            this.expected = expected;
        }

        /** The store carries it out. */
        void perform() throws Exception {
            if (done) {
                throw new IllegalStateException("performed twice: " + kind);
            }
            done = true;
            Versioned<byte[]> now = stored.get(ledger);
            if (kind.equals("create")) {
                stored.put(ledger, new Versioned<>(format.serialize(wanted), new LongVersion(0)));
            } else if (now == null) {
                failure = new BKException.BKNoSuchLedgerExistsOnMetadataServerException();
            } else if (kind.equals("write") && !now.getVersion().equals(expected)) {
                failure = new BKException.BKMetadataVersionException();
            } else if (kind.equals("write")) {
                long version = ((LongVersion) now.getVersion()).getLongVersion();
                stored.put(ledger, new Versioned<>(format.serialize(wanted), new LongVersion(version + 1)));
            } else if (kind.equals("remove")) {
                stored.remove(ledger);
            }
            result = of(ledger);
            if (notifies && kind.equals("write") && failure == null) {
                listeners.forEach((listener, by) -> {
                    if (by.ledger == ledger) {
                        by.owner.executor.execute(() -> listener.onChanged(ledger, result));
                    }
                });
            }
        }

        /** The client hears what came of it. */
        void tell() {
            if (told || !done) {
                throw new IllegalStateException((told ? "told twice: " : "told before it was performed: ") + kind);
            }
            told = true;
            owner.scheduled |= kind.equals("read"); // LedgerOpenOp goes on in the scheduler's thread
            if (failure != null) {
                future.completeExceptionally(failure);
            } else {
                future.complete(result);
            }
        }
    }

    /** The store as one client sees it. */
    LedgerManager of(GatedClient owner) {
        return new LedgerManager() {
            private CompletableFuture<Versioned<LedgerMetadata>> held(String kind, long ledger, LedgerMetadata wanted,
                    Version expected) {
                Operation operation = new Operation(owner, kind, ledger, wanted, expected);
                operations.add(operation);
                return operation.future;
            }

            @Override
            public CompletableFuture<Versioned<LedgerMetadata>> createLedgerMetadata(long ledger, LedgerMetadata wanted) {
                return held("create", ledger, wanted, null);
            }

            @Override
            public CompletableFuture<Void> removeLedgerMetadata(long ledger, Version version) {
                return held("remove", ledger, null, version).thenApply(ignored -> null);
            }

            @Override
            public CompletableFuture<Versioned<LedgerMetadata>> readLedgerMetadata(long ledger) {
                return held("read", ledger, null, null);
            }

            @Override
            public CompletableFuture<Versioned<LedgerMetadata>> writeLedgerMetadata(long ledger, LedgerMetadata wanted,
                    Version expected) {
                return held("write", ledger, wanted, expected);
            }

            @Override
            public void registerLedgerMetadataListener(long ledger, LedgerMetadataListener listener) {
                listeners.put(listener, new Listening(ledger, owner));
            }

            @Override
            public void unregisterLedgerMetadataListener(long ledger, LedgerMetadataListener listener) {
                listeners.remove(listener);
            }

            @Override
            public void asyncProcessLedgers(Processor<Long> processor, AsyncCallback.VoidCallback callback, Object context,
                    int success, int failure) {
                throw new UnsupportedOperationException("asyncProcessLedgers is not part of any run");
            }

            @Override
            public LedgerRangeIterator getLedgerRanges(long timeout) {
                throw new UnsupportedOperationException("getLedgerRanges is not part of any run");
            }

            @Override
            public void close() {
            }
        };
    }
}
