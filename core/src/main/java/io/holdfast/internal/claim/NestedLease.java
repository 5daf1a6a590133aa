package io.holdfast.internal.claim;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * The lease of an acquisition inside the same lock: a view of the outermost lease with its own end. Its release sends
 * no request. The outermost release frees the lock, and is a loss for each view that was not released before.
 */
final class NestedLease implements EngineLease {

    private final LeaseHandle outermost;

    /** The loss of this view, empty when it was released. Written once, by the first thread that finds its end. */
    private final AtomicReference<@Nullable Loss> end = new AtomicReference<>();

    private final Sinks.Empty<Void> over = Sinks.empty();

    private volatile @Nullable Disposable lossWatch;

    NestedLease(LeaseHandle outermost) {
        this.outermost = outermost;
    }

    @Override
    public String lockName() {
        return outermost.lockName();
    }

    @Override
    public long fencingToken() {
        return outermost.fencingToken();
    }

    @Override
    public Duration remaining() {
        return end.get() == null ? outermost.remaining() : Duration.ZERO;
    }

    @Override
    public boolean isValid() {
        return end.get() == null && outermost.isValid();
    }

    @Override
    public Mono<LossReason> onLoss() {
        return Mono.firstWithSignal(over.asMono(), outermost.noLongerHeld())
                .then(Mono.fromSupplier(() -> isReleased() ? null : end().reason()));
    }

    @Override
    public Mono<Void> renew() {
        return Mono.defer(() -> isValid() ? outermost.renew() : Mono.error(lost()));
    }

    @Override
    public Mono<String> export() {
        return Mono.error(() ->
                new IllegalStateException("a nested lease of lock '%s' cannot be handed on: export the outermost one"
                        .formatted(Printable.text(lockName()))));
    }

    @Override
    public Mono<LockLease> downgrade() {
        return Mono.error(() -> new IllegalStateException(
                "a nested lease of lock '%s' cannot be downgraded: acquire() the write lock where nothing holds it, and downgrade that lease"
                        .formatted(Printable.text(lockName()))));
    }

    @Override
    public Mono<Void> release() {
        return Mono.defer(() -> {
            boolean isReleased = isReleased();
            Sinks.EmitResult unused = over.tryEmitEmpty();
            return isReleased ? Mono.empty() : Mono.error(lost());
        });
    }

    @Override
    public void watchLoss(Holder holder) {
        lossWatch = onLoss().subscribe(reason -> holder.lost());
    }

    @Override
    public void stopWatchingLoss() {
        Disposable watching = lossWatch;
        if (watching != null) {
            watching.dispose();
        }
    }

    @Override
    public void tell(Runnable signal) {
        outermost.tell(signal);
    }

    /** Returns the context unchanged: a lock nested in this view finds the outermost lease. */
    @Override
    public Context enter(Context context) {
        return context;
    }

    @Override
    public LockLostException lost() {
        return end().exception(lockName(), fencingToken());
    }

    private boolean isReleased() {
        return end().equals(Loss.RELEASED);
    }

    /** A view without an end ends now; it counts as released if the outermost lease is valid. */
    private Loss end() {
        Loss known = end.get();
        if (known != null) {
            return known;
        }
        Loss mine = outermost.isValid() ? Loss.RELEASED : outermost.lossOfViews();
        return end.compareAndSet(null, mine) ? mine : requireNonNull(end.get());
    }

    @Override
    public String toString() {
        return "nested " + outermost;
    }
}
