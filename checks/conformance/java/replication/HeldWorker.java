package org.apache.bookkeeper.replication;

import fencepost.Gate;
import java.util.Set;
import java.util.TimerTask;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.LedgerFragment;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.stats.NullStatsLogger;

/** A ReplicationWorker with its own thread: each check waits at a gate, and its timers fire when a step says so. */
public final class HeldWorker extends ReplicationWorker {
    private final Gate gate;
    private volatile TimerTask due;

    public HeldWorker(ServerConfiguration conf, BookKeeper client, Gate gate) throws Exception {
        super(conf, client, false, NullStatsLogger.INSTANCE);
        this.gate = gate;
    }

    @Override
    Set<LedgerFragment> getUnderreplicatedFragments(LedgerHandle ledger, Long percentage) throws InterruptedException {
        gate.pass("check");
        return super.getUnderreplicatedFragments(ledger, percentage);
    }

    @Override
    void scheduleTaskWithDelay(TimerTask task, long delay) {
        due = task;
    }

    /** Whether a timer is set. */
    public boolean hasTimer() {
        return due != null;
    }

    /** The timer fires. */
    public void fire() {
        TimerTask task = due;
        due = null;
        task.run();
    }
}
