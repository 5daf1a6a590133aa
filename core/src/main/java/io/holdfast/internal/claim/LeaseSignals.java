package io.holdfast.internal.claim;

import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.GuardedLease.Holder;
import io.holdfast.internal.timing.Delivery;
import io.holdfast.internal.timing.Fallible;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The signals of a lease: its loss, its release, and the end of the hold for nested ones. Made at their first use. */
final class LeaseSignals {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final Delivery delivery;

    // The fields below are written under the monitor; signals are emitted outside of it.
    private Sinks.@Nullable One<LossReason> loss;
    private Sinks.@Nullable Empty<Void> released;
    private Sinks.@Nullable Empty<Void> noLongerHeld;
    private @Nullable Holder holder;
    private boolean holderReleases;
    private boolean releaseAsked;
    private boolean ended;
    private boolean releaseTakesLong;
    private @Nullable LockLostException lost;

    LeaseSignals(Delivery delivery) {
        this.delivery = delivery;
    }

    /** Emits one value on loss; completes empty after a release. */
    Mono<LossReason> loss() {
        synchronized (this) {
            loss = loss != null ? loss : Sinks.one();
        }
        return of(loss);
    }

    /** Completes empty after the release, or when that takes long; fails after a loss. */
    Mono<Void> released() {
        synchronized (this) {
            released = released != null ? released : Sinks.empty();
        }
        return of(released);
    }

    /** Completes empty when the release is requested, before it is sent, or after a loss. */
    Mono<Void> noLongerHeld() {
        synchronized (this) {
            noLongerHeld = noLongerHeld != null ? noLongerHeld : Sinks.empty();
        }
        return of(noLongerHeld);
    }

    private <T> Mono<T> of(Sinks.Empty<T> sink) {
        signalDue();
        return delivery.of(sink.asMono());
    }

    void watchLoss(Holder watching) {
        watch(watching, false);
    }

    synchronized void forgetHolder() {
        holder = null;
    }

    /** The release was requested; from then on the holder gets no loss. */
    void watchRelease(Holder releasing) {
        watch(releasing, true);
    }

    private void watch(Holder watching, boolean releases) {
        synchronized (this) {
            holder = watching;
            holderReleases = releases;
            if (!isHolderDue()) {
                return;
            }
        }
        signalDue();
    }

    void releaseAsked() {
        synchronized (this) {
            releaseAsked = true;
            if (noLongerHeld == null) {
                return;
            }
        }
        signalDue();
    }

    void releaseTakesLong() {
        synchronized (this) {
            releaseTakesLong = true;
        }
        signalDue();
    }

    void end(@Nullable LockLostException reason) {
        synchronized (this) {
            ended = true;
            lost = reason;
        }
        signalDue();
    }

    /** Emits the signals that are due. Several threads may call it at once: a sink ignores a second signal. */
    private void signalDue() {
        Sinks.One<LossReason> lossSink;
        Sinks.Empty<Void> nestedSink;
        Sinks.Empty<Void> releasedSink;
        Holder receiver;
        boolean isRelease;
        LockLostException reason;
        synchronized (this) {
            isRelease = holderReleases;
            receiver = isHolderDue() ? holder : null;
            holder = receiver == null ? holder : null; // only once
            lossSink = ended ? loss : null;
            nestedSink = ended || releaseAsked ? noLongerHeld : null;
            releasedSink = ended || releaseTakesLong ? released : null;
            reason = lost;
        }
        if (receiver != null && !isRelease) {
            delivery.run(receiver::lost);
        }
        if (lossSink != null) {
            signal(reason == null ? lossSink::tryEmitEmpty : () -> lossSink.tryEmitValue(reason.reason()));
        }
        if (nestedSink != null) {
            signal(nestedSink::tryEmitEmpty);
        }
        if (releasedSink != null) {
            signal(reason == null ? releasedSink::tryEmitEmpty : () -> releasedSink.tryEmitError(reason));
        }
        if (receiver != null && isRelease) {
            delivery.run(() -> receiver.released(reason));
        }
    }

    /** The lease must end whatever a subscriber throws, and the other leases of its batch be renewed. */
    private static void signal(Runnable signal) {
        Fallible.run(signal, LOG, "a subscriber threw at the signal that its lease has ended");
    }

    private boolean isHolderDue() {
        return holderReleases ? ended || releaseTakesLong : lost != null;
    }
}
