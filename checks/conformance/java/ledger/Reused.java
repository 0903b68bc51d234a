package org.apache.bookkeeper.client;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.bookkeeper.conf.ClientConfiguration;

/** What a client hands on to one of a later run: to make it takes longer than a step, because it reads dozens of settings. */
final class Reused {
    final StepExecutor executor = new StepExecutor();
    /** The reads of entries that could be sent to a further bookie, as speculation does it. */
    final List<ReadOpBase.LedgerEntryRequest> reads = new ArrayList<>();
    final ClientInternalConf configuration;

    Reused() throws ReflectiveOperationException {
        ClientConfiguration conf = new ClientConfiguration();
        conf.setThrottleValue(0);
        conf.setExplictLacInterval(0);
        conf.setAddEntryQuorumTimeout(0);
        configuration = ClientInternalConf.fromConfig(conf);
        // which bookie is asked next is a choice of the run: the policy only remembers whom to ask
        SpeculativeRequestExecutionPolicy remembers = (scheduler, executor) -> {
            if (executor instanceof ReadOpBase.LedgerEntryRequest) {
                reads.add((ReadOpBase.LedgerEntryRequest) executor);
            }
            return null;
        };
        Field policy = ClientInternalConf.class.getDeclaredField("readSpeculativeRequestPolicy");
        policy.setAccessible(true);
        policy.set(configuration, Optional.of(remembers));
    }

    /** Nothing of the former client is left. */
    void forget() {
        executor.forget();
        reads.clear();
    }
}
