package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.LossReason;
import io.holdfast.internal.timing.Turn;
import io.holdfast.spi.support.Fallible;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes each event to the user's listener and to the log: what an operator should see as a warning. */
public final class Events {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final LogThrottle failedRenewals = new LogThrottle();
    private final @Nullable LockListener listener;

    public Events(@Nullable LockListener listener) {
        this.listener = listener;
    }

    public boolean areWanted() {
        return listener != null || LOG.isDebugEnabled();
    }

    public void report(LockEvent event) {
        if (isUnexpected(event)) {
            Fallible.tell(() -> LOG.warn("{}", EventText.of(event)));
            notify(event);
        } else {
            reportWithoutWarning(event);
        }
    }

    public void reportWithoutWarning(LockEvent event) {
        if (LOG.isDebugEnabled()) {
            Fallible.tell(() -> LOG.debug("{}", EventText.of(event)));
        }
        notify(event);
    }

    /** Logs a failure that several renewals share, and that concerns a lease still held; seldom, if it repeats. */
    void renewalsFailed(List<Renewable> leases, LockBackendException error, long nowNanos) {
        long held = leases.stream().filter(Renewable::isHeld).count();
        long failures = held == 0 ? 0 : failedRenewals.count(nowNanos);
        if (failures == 1) {
            Fallible.tell(() -> LOG.warn(
                    "renewal of {} lease(s) failed, will be tried again until their deadline: {}",
                    held,
                    error.getMessage()));
        } else if (failures > 1) {
            Fallible.tell(() -> LOG.warn(
                    "{} renewals failed since the last such line, the last one: {}", failures, error.getMessage()));
        }
    }

    private void notify(LockEvent event) {
        if (listener != null) {
            Turn.runUsersCode(() -> notify(listener, event));
        }
    }

    private static void notify(LockListener listener, LockEvent event) {
        try {
            listener.onEvent(event);
        } catch (Throwable broken) {
            Fallible.tell(() -> LOG.error("lock listener {} threw on: {}", listener, EventText.of(event), broken));
        }
    }

    private static boolean isUnexpected(LockEvent event) {
        boolean unexpectedLoss = event instanceof LockEvent.Lost lost && lost.reason() != LossReason.CLIENT_CLOSED;
        return unexpectedLoss
                || event instanceof LockEvent.LeaseAbandoned
                || event instanceof LockEvent.ReleaseUnconfirmed
                || event instanceof LockEvent.WithdrawalUnconfirmed;
    }
}
