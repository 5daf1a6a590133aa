package io.holdfast.redis.internal.safety;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.MonoSink;

/**
 * A grant that the replicas have not confirmed yet, and the acquisition that waits for that. Disposed of when the
 * acquisition no longer waits.
 */
final class UnconfirmedGrant implements Disposable {

    /** As for any command: if a cluster redirects it more often, its slots have to settle first. */
    private static final int MOST_REDIRECTIONS = 5;

    private final LockClaim claim;
    private final LockAttempt.Acquired grant;
    private final MonoSink<LockAttempt> sink;
    private final AtomicBoolean isLeft = new AtomicBoolean();

    /** Written by the driver's threads, one answer at a time. */
    private int redirections;

    /** Written by the thread that puts the grant into a batch; null before. */
    private volatile @Nullable ConfirmationBatch batch;

    UnconfirmedGrant(LockClaim claim, LockAttempt.Acquired grant, MonoSink<LockAttempt> sink) {
        this.claim = claim;
        this.grant = grant;
        this.sink = sink;
    }

    LockClaim claim() {
        return claim;
    }

    /** Puts the grant into a batch. The later one of this call and {@link #dispose} notifies the batch. */
    void joins(ConfirmationBatch joined) {
        batch = joined;
        if (isDisposed()) {
            joined.left(this);
        }
    }

    boolean mayBeSentOn() {
        return redirections++ < MOST_REDIRECTIONS;
    }

    void confirmed() {
        sink.success(grant);
    }

    /** The lock was taken away since: completes as if it had not been granted. */
    void gone() {
        sink.success(new LockAttempt.Contended(claim.lease().dividedBy(3)));
    }

    void fail(LockBackendException error) {
        if (!isDisposed()) { // Reactor would log it as dropped
            sink.error(error);
        }
    }

    @Override
    public void dispose() {
        isLeft.set(true);
        ConfirmationBatch joined = batch;
        if (joined != null) {
            joined.left(this);
        }
    }

    @Override
    public boolean isDisposed() {
        return isLeft.get();
    }
}
