package io.holdfast.internal;

import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.GuardedLease.Holder;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The signals of a lease: its loss, the end of its release, and, for nested leases, the end of the hold. All replay.
 * Most leases end without a subscriber, so each signal is made when it is first used.
 */
final class LeaseSignals {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final @Nullable Scheduler deliverOn;

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

    LeaseSignals(@Nullable Scheduler deliverOn) {
        this.deliverOn = deliverOn;
    }

    /** Emits one value on loss; completes empty after a release. */
    Mono<LossReason> loss() {
        Sinks.One<LossReason> sink;
        synchronized (this) {
            if (loss == null) {
                loss = Sinks.one();
            }
            sink = loss;
        }
        signalDue();
        return delivered(sink.asMono());
    }

    /** Completes empty after the release, or when that takes long; fails after a loss. */
    Mono<Void> released() {
        Sinks.Empty<Void> sink;
        synchronized (this) {
            if (released == null) {
                released = Sinks.empty();
            }
            sink = released;
        }
        signalDue();
        return delivered(sink.asMono());
    }

    /** Completes empty when the release is requested, before it is sent, or after a loss. */
    Mono<Void> noLongerHeld() {
        Sinks.Empty<Void> sink;
        synchronized (this) {
            if (noLongerHeld == null) {
                noLongerHeld = Sinks.empty();
            }
            sink = noLongerHeld;
        }
        signalDue();
        return delivered(sink.asMono());
    }

    /** Registers a receiver of the loss; the end of a release is not for it. */
    void watchLoss(Holder watching) {
        synchronized (this) {
            holder = watching;
            if (!isHolderDue()) {
                return;
            }
        }
        signalDue();
    }

    synchronized void forgetHolder() {
        holder = null;
    }

    /** Registers a receiver of the end of the release, which was requested; from then on it gets no loss. */
    void watchRelease(Holder releasing) {
        synchronized (this) {
            holder = releasing;
            holderReleases = true;
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
            deliver(receiver, false, reason);
        }
        if (lossSink != null) {
            emit(() -> reason == null ? lossSink.tryEmitEmpty() : lossSink.tryEmitValue(reason.reason()));
        }
        if (nestedSink != null) {
            emit(nestedSink::tryEmitEmpty);
        }
        if (releasedSink != null) {
            Sinks.EmitResult unused = reason == null ? releasedSink.tryEmitEmpty() : releasedSink.tryEmitError(reason);
        }
        if (receiver != null && isRelease) {
            deliver(receiver, true, reason);
        }
    }

    /** Called under the monitor. */
    private boolean isHolderDue() {
        return holderReleases ? ended || releaseTakesLong : lost != null;
    }

    /** Signals on the same scheduler as {@link #delivered}. */
    private void deliver(Holder receiver, boolean isRelease, @Nullable LockLostException reason) {
        if (deliverOn != null) {
            try {
                Disposable unused = deliverOn.schedule(() -> signal(receiver, isRelease, reason));
            } catch (RejectedExecutionException disposed) {
                signal(receiver, isRelease, reason); // the scheduler is disposed: this thread signals
            }
        } else {
            signal(receiver, isRelease, reason);
        }
    }

    private static void signal(Holder receiver, boolean isRelease, @Nullable LockLostException reason) {
        try {
            if (isRelease) {
                receiver.released(reason);
            } else {
                receiver.lost();
            }
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            logBroken(broken);
        }
    }

    private static void emit(Supplier<Sinks.EmitResult> signal) {
        try {
            Sinks.EmitResult unused = signal.get();
        } catch (RuntimeException broken) {
            logBroken(broken);
        }
    }

    /**
     * Handles a subscriber that breaks rule 2.13 of Reactive Streams: the lease must end all the same, and the other
     * leases of its batch be renewed.
     */
    private static void logBroken(Throwable broken) {
        LOG.error("a subscriber threw at the signal that its lease has ended", broken);
    }

    private <T> Mono<T> delivered(Mono<T> signal) {
        // If the scheduler is disposed, this thread signals. Without the signal of a loss, the work would go on.
        return deliverOn == null
                ? signal
                : signal.publishOn(deliverOn).onErrorResume(RejectedExecutionException.class, disposed -> signal);
    }
}
