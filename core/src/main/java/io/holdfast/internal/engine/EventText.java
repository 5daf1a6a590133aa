package io.holdfast.internal.engine;

import io.holdfast.LockEvent;
import io.holdfast.spi.support.Printable;
import java.time.Duration;

/** Formats an event as a printable sentence for the log: which lock, what happened, how long it took, what follows. */
final class EventText {

    private EventText() {}

    static String of(LockEvent event) {
        return Printable.text("lock '%s'%s".formatted(event.lockName(), end(event)));
    }

    private static String end(LockEvent event) {
        if (event instanceof LockEvent.AcquireStarted) {
            return ": acquisition started";
        } else if (event instanceof LockEvent.Acquired e) {
            return " acquired after %s and %s, token %d"
                    .formatted(time(e.waited()), attempts(e.attempts()), e.fencingToken());
        } else if (event instanceof LockEvent.NotAvailable e) {
            return " is not available, answered after " + time(e.waited());
        } else if (event instanceof LockEvent.AcquireFailed e) {
            return " not acquired after %s and %s: %s"
                    .formatted(
                            time(e.waited()), attempts(e.attempts()), e.error().getMessage());
        } else if (event instanceof LockEvent.AcquireCancelled e) {
            return ": acquisition cancelled after %s and %s".formatted(time(e.waited()), attempts(e.attempts()));
        } else if (event instanceof LockEvent.AttemptFailed e) {
            return ", attempt %d failed: %s".formatted(e.attempt(), e.error().getMessage());
        } else if (event instanceof LockEvent.WithdrawalUnconfirmed e) {
            return ": a claim that is no longer needed could not be withdrawn; the back end frees it when its lease ends: "
                    + e.error().getMessage();
        }
        return endOfLease(event);
    }

    private static String endOfLease(LockEvent event) {
        if (event instanceof LockEvent.RenewalFailed e) {
            return " with token %d could not be renewed, %s are left for trying again: %s"
                    .formatted(e.fencingToken(), time(e.remaining()), e.error().getMessage());
        } else if (event instanceof LockEvent.Released e) {
            return " with token %d released after %s".formatted(e.fencingToken(), time(e.held()));
        } else if (event instanceof LockEvent.ReleaseUnconfirmed e) {
            return " with token %d, held for %s, could not be released; the back end frees it when its lease ends: %s"
                    .formatted(e.fencingToken(), time(e.held()), e.error().getMessage());
        } else if (event instanceof LockEvent.Lost e) {
            return " with token %d lost after %s: %s (%s)"
                    .formatted(e.fencingToken(), time(e.held()), e.why(), e.reason());
        } else if (event instanceof LockEvent.HandedOn e) {
            return " with token %d handed on after %s".formatted(e.fencingToken(), time(e.held()));
        } else if (event instanceof LockEvent.Downgraded e) {
            return " with token %d became a read lock after %s".formatted(e.fencingToken(), time(e.held()));
        } else if (event instanceof LockEvent.LeaseAbandoned e) {
            return " with token %d was dropped without a release, found after %s, and is being released; withLock would not drop it"
                    .formatted(e.fencingToken(), time(e.held()));
        }
        return ": " + event;
    }

    private static String attempts(int attempts) {
        return attempts == 1 ? "1 attempt" : attempts + " attempts";
    }

    private static String time(Duration duration) {
        return duration.toMillis() + " ms";
    }
}
