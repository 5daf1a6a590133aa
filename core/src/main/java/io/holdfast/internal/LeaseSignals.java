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
 * What may be waited for: the loss of a lease, the end of its release, and, by nested leases, that it is not held any more. All replay.
 * Most leases end before anything waits, so each is made when it is asked for.
 */
final class LeaseSignals {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final @Nullable Scheduler deliverOn;

    // All below: written under the monitor; signalled outside of it.
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

    /** One value on loss; empty after a release. */
    Mono<LossReason> loss() {
        Sinks.One<LossReason> sink;
        synchronized (this) {
            if (loss == null) {
                loss = Sinks.one();
            }
            sink = loss;
        }
        tell();
        return delivered(sink.asMono());
    }

    /** Empty when released, or when that takes long; an error after a loss. */
    Mono<Void> released() {
        Sinks.Empty<Void> sink;
        synchronized (this) {
            if (released == null) {
                released = Sinks.empty();
            }
            sink = released;
        }
        tell();
        return delivered(sink.asMono());
    }

    /** Empty when the release is asked for, before it is sent, or after a loss. */
    Mono<Void> noLongerHeld() {
        Sinks.Empty<Void> sink;
        synchronized (this) {
            if (noLongerHeld == null) {
                noLongerHeld = Sinks.empty();
            }
            sink = noLongerHeld;
        }
        tell();
        return delivered(sink.asMono());
    }

    /** Tells it of a loss; a release that ends is not for it. */
    void tellOfLoss(Holder watching) {
        synchronized (this) {
            holder = watching;
            if (!isHolderDue()) {
                return;
            }
        }
        tell();
    }

    synchronized void forgetHolder() {
        holder = null;
    }

    /** Tells it of the end of the release, which was asked for; not of a loss any more. */
    void tellOfRelease(Holder releasing) {
        synchronized (this) {
            holder = releasing;
            holderReleases = true;
            if (!isHolderDue()) {
                return;
            }
        }
        tell();
    }

    void releaseAsked() {
        synchronized (this) {
            releaseAsked = true;
            if (noLongerHeld == null) {
                return;
            }
        }
        tell();
    }

    void releaseTakesLong() {
        synchronized (this) {
            releaseTakesLong = true;
        }
        tell();
    }

    void end(@Nullable LockLostException reason) {
        synchronized (this) {
            ended = true;
            lost = reason;
        }
        tell();
    }

    /** May be called by several at once: a sink that is told already stays as it is. */
    private void tell() {
        Sinks.One<LossReason> lossSink;
        Sinks.Empty<Void> nestedSink;
        Sinks.Empty<Void> releasedSink;
        Holder told;
        boolean isRelease;
        LockLostException reason;
        synchronized (this) {
            isRelease = holderReleases;
            told = isHolderDue() ? holder : null;
            holder = told == null ? holder : null; // once
            lossSink = ended ? loss : null;
            nestedSink = ended || releaseAsked ? noLongerHeld : null;
            releasedSink = ended || releaseTakesLong ? released : null;
            reason = lost;
        }
        if (told != null && !isRelease) {
            deliver(told, false, reason);
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
        if (told != null && isRelease) {
            deliver(told, true, reason);
        }
    }

    /** Under the monitor. */
    private boolean isHolderDue() {
        return holderReleases ? ended || releaseTakesLong : lost != null;
    }

    /** Where {@link #delivered} signals. */
    private void deliver(Holder told, boolean isRelease, @Nullable LockLostException reason) {
        if (deliverOn != null) {
            try {
                Disposable unused = deliverOn.schedule(() -> tell(told, isRelease, reason));
            } catch (RejectedExecutionException disposed) {
                tell(told, isRelease, reason); // a late thread beats no signal
            }
        } else {
            tell(told, isRelease, reason);
        }
    }

    private static void tell(Holder told, boolean isRelease, @Nullable LockLostException reason) {
        try {
            if (isRelease) {
                told.released(reason);
            } else {
                told.lost();
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

    /** A subscriber that breaks rule 2.13: the lease must end all the same, and the others of its batch be renewed. */
    private static void logBroken(Throwable broken) {
        LOG.error("a subscriber threw when it was told that a lease has ended", broken);
    }

    private <T> Mono<T> delivered(Mono<T> signal) {
        // A late thread beats no signal, of a loss above all: the work would go on.
        return deliverOn == null
                ? signal
                : signal.publishOn(deliverOn).onErrorResume(RejectedExecutionException.class, disposed -> signal);
    }
}
