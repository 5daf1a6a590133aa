package io.holdfast.internal.claim;

import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.GuardedLease.Holder;
import io.holdfast.internal.timing.AlarmClock;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.internal.timing.Delivery;
import io.holdfast.spi.support.Fallible;
import java.util.function.Consumer;
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

    /** How many signals, but those of a release, wait for a thread of {@code deliverOn} or are being handled. */
    private int undelivered;

    private @Nullable Runnable whenDelivered;

    LeaseSignals(Delivery delivery) {
        this.delivery = delivery;
    }

    /** Emits one value on loss; completes empty after a release. */
    Mono<LossReason> loss() {
        synchronized (this) {
            loss = loss != null ? loss : Sinks.one();
        }
        return of(loss, this::deliver);
    }

    /** Completes empty after the release, or when that takes long; fails after a loss. */
    Mono<Void> released() {
        synchronized (this) {
            released = released != null ? released : Sinks.empty();
        }
        return of(released, delivery::run);
    }

    /** Completes empty when the release is requested, before it is sent, or after a loss. */
    Mono<Void> noLongerHeld() {
        synchronized (this) {
            noLongerHeld = noLongerHeld != null ? noLongerHeld : Sinks.empty();
        }
        return of(noLongerHeld, this::deliver);
    }

    private <T> Mono<T> of(Sinks.Empty<T> sink, Consumer<Runnable> run) {
        signalDue();
        return delivery.of(sink.asMono(), run);
    }

    private void deliver(Runnable signal) {
        begun();
        delivery.run(() -> ended(signal));
    }

    /** Tells a holder something; the lease is not released for others meanwhile. */
    void tell(Runnable signal) {
        begun();
        ended(signal);
    }

    private synchronized void begun() {
        undelivered++;
    }

    private void ended(Runnable signal) {
        try {
            signal.run();
        } finally {
            delivered();
        }
    }

    private void delivered() {
        Runnable next;
        synchronized (this) {
            undelivered--;
            next = undelivered == 0 ? whenDelivered : null;
        }
        runOnce(next);
    }

    synchronized boolean areDelivered() {
        return undelivered == 0;
    }

    /** Runs the code when the signals so far have been delivered, or at the given time; only the last code. */
    void whenDelivered(Runnable next, AlarmClock alarms, long latestNanos) {
        synchronized (this) {
            whenDelivered = next;
        }
        if (areDelivered()) {
            runOnce(next);
        } else {
            alarms.set(Alarm.atTheLatestAtClose(() -> runOnce(next)), latestNanos);
        }
    }

    private void runOnce(@Nullable Runnable next) {
        synchronized (this) {
            if (next == null || whenDelivered != next) {
                return;
            }
            whenDelivered = null;
        }
        next.run();
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
            undelivered++; // so that another thread, which finds nothing left to signal, waits for this one
            isRelease = holderReleases;
            receiver = isHolderDue() ? holder : null;
            holder = receiver == null ? holder : null; // only once
            lossSink = ended ? loss : null;
            nestedSink = ended || releaseAsked ? noLongerHeld : null;
            releasedSink = ended || releaseTakesLong ? released : null;
            reason = lost;
        }
        try {
            if (receiver != null && !isRelease) {
                deliver(receiver::lost);
            }
            if (lossSink != null) {
                signal(reason == null ? lossSink::tryEmitEmpty : () -> lossSink.tryEmitValue(reason.reason()));
            }
            if (nestedSink != null) {
                signal(nestedSink::tryEmitEmpty);
            }
        } finally {
            delivered();
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
