package io.holdfast.internal.engine;

import io.holdfast.LockQueueFullException;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the acquisitions of one client that are under way, if the client limits them. */
public final class Admission {

    public static final int NO_LIMIT = Integer.MAX_VALUE;

    private final int limit;
    private final AtomicInteger underWay = new AtomicInteger();

    Admission(int limit) {
        this.limit = limit;
    }

    /** Returns whether an acquisition may begin. If so, it calls {@link #leave} once: when it ends, or before its error. */
    public boolean enter() {
        if (limit == NO_LIMIT) {
            return true;
        }
        for (int seen = underWay.get(); seen < limit; seen = underWay.get()) {
            if (underWay.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
        return false;
    }

    public void leave() {
        if (limit != NO_LIMIT) {
            underWay.decrementAndGet();
        }
    }

    public LockQueueFullException refusal(String lockName) {
        return new LockQueueFullException(
                lockName,
                limit,
                "lock '%s' was not requested: this client has as many acquisitions under way as maxWaiters allows, which is %d; shed load, hold locks shorter, or raise maxWaiters"
                        .formatted(lockName, limit));
    }
}
