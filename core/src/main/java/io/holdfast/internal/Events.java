package io.holdfast.internal;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.LossReason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/** Tells the user's listener and the log, once each. What needs somebody's attention is a warning; the rest is for debugging. */
final class Events {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final @Nullable LockListener listener;

    Events(@Nullable LockListener listener) {
        this.listener = listener;
    }

    /** Whether making an event is worth it. */
    boolean areWanted() {
        return listener != null || LOG.isDebugEnabled();
    }

    void report(LockEvent event) {
        if (isUnexpected(event)) {
            LOG.warn("{}", EventText.of(event));
            tell(event);
        } else {
            reportWithoutWarning(event);
        }
    }

    /** At debug, whatever it is. */
    void reportWithoutWarning(LockEvent event) {
        if (LOG.isDebugEnabled()) {
            LOG.debug("{}", EventText.of(event));
        }
        tell(event);
    }

    private void tell(LockEvent event) {
        if (listener != null) {
            Turn.runUsersCode(() -> tell(listener, event));
        }
    }

    private static void tell(LockListener listener, LockEvent event) {
        try {
            listener.onEvent(event);
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            LOG.error("lock listener {} threw on: {}", listener, EventText.of(event), broken);
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
