package io.holdfast.zookeeper.internal.session;

import java.time.Duration;

/** What the newest transaction has proved counts from the hand-over. In the package of {@link SessionValidity} because only there it can be extended. */
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
