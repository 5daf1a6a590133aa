package io.holdfast.zookeeper.internal.session;

import java.time.Duration;

/** Counts the validity of the newest transaction from the hand-over. It is in the package of {@link SessionValidity}, which only that package can extend. */
public final class WrongValidity extends SessionValidity {

    private long askedNanos;

    public WrongValidity(long foundNanos, int timeoutMillis) {
        super(foundNanos, timeoutMillis);
        askedNanos = foundNanos;
    }

    @Override
    public boolean suffices(long nowNanos) {
        askedNanos = nowNanos;
        return super.suffices(nowNanos);
    }

    @Override
    public void agreed(long requestSentNanos, long nowNanos) {
        askedNanos = requestSentNanos;
        super.agreed(requestSentNanos, nowNanos);
    }

    @Override
    public Duration validFrom(long nanos) {
        return lease().plusNanos(askedNanos - nanos);
    }
}
