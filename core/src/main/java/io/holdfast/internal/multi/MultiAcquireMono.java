package io.holdfast.internal.multi;

import io.holdfast.MultiLease;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * The operator behind {@code acquire} and {@code tryAcquire} of several locks: each subscription is a new acquisition.
 */
public final class MultiAcquireMono extends Mono<MultiLease> {

    private final MultiLockSettings locks;
    private final boolean waits;

    public MultiAcquireMono(MultiLockSettings locks, boolean waits) {
        this.locks = locks;
        this.waits = waits;
    }

    @Override
    public void subscribe(CoreSubscriber<? super MultiLease> subscriber) {
        subscriber.onSubscribe(new MultiAcquisition(locks, waits, subscriber).subscription());
    }
}
