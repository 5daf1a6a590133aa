package io.holdfast.redlock.internal.operation;

import static java.util.Objects.requireNonNull;

import io.holdfast.redlock.internal.master.QuorumRequest;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one round: the last one at each master, and the requests that may not be answered yet. Thread-safe.
 */
final class SentAttempts {

    // Both: guarded by this.
    private final @Nullable LockClaim[] last;

    /** The first request goes to all masters. A second one goes to those that granted a lower token. */
    private final List<QuorumRequest<LockAttempt>> requests = new ArrayList<>(1);

    SentAttempts(int masters) {
        last = new LockClaim[masters];
    }

    synchronized void add(QuorumRequest<LockAttempt> request) {
        requests.add(request);
    }

    synchronized void put(int master, LockClaim attempt) {
        last[master] = attempt;
    }

    /** Returns the last attempt; null if none was sent there. */
    synchronized @Nullable LockClaim at(int master) {
        return last[master];
    }

    /** Returns the attempt that this master has answered. */
    LockClaim answered(int master) {
        return requireNonNull(at(master), "an answer to an attempt that was not sent");
    }

    /** Whether the answer of this master is still to come. */
    synchronized boolean isAwaiting(int master) {
        for (QuorumRequest<LockAttempt> request : requests) {
            if (request.isAwaiting(master)) {
                return true;
            }
        }
        return false;
    }

    /** Stops waiting for this master. */
    void stop(int master) {
        List<QuorumRequest<LockAttempt>> all;
        synchronized (this) {
            all = List.copyOf(requests);
        }
        for (QuorumRequest<LockAttempt> request : all) {
            boolean unused = request.stop(master);
        }
    }
}
