package io.holdfast.internal.claim;

import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** The user's side of a lease. The engine holds it weakly, so the publishers made here refer to it. */
public final class LeaseHandle implements EngineLease {

    final HeldClaim claim;
    private final LeaseSignals signals;

    /** Whether it is the read lease that follows a downgrade; the claim's other lease has ended then. */
    private final boolean asReader;

    /** Whether a {@code withLock} or a {@code MultiLease} owns it, and releases it. Written before the user gets it. */
    private volatile boolean isPart;

    LeaseHandle(HeldClaim claim, LeaseSignals signals, boolean asReader) {
        this.claim = claim;
        this.signals = signals;
        this.asReader = asReader;
    }

    LockSettings lock() {
        return claim.lock;
    }

    private Engine engine() {
        return claim.lock.engine();
    }

    LockKey key() {
        return asReader ? LockKey.of(LockKind.READ, lockName()) : claim.lock.key();
    }

    boolean isHeld() {
        return claim.isHeld() && !isReleased();
    }

    /** Returns whether the holder has ended it in any way: no lease is nested in it, and no loss follows. */
    boolean isReleased() {
        return claim.lease().isReleased(asReader);
    }

    Loss lossOfViews() {
        return isReleased() ? Loss.OUTERMOST_RELEASED : claim.loss(asReader);
    }

    boolean succeed(Successor<?> wanted) {
        return claim.succeed(asReader, wanted);
    }

    @Override
    public void handedOut() {
        claim.handedOut = true;
        if (asReader && engine().events.areWanted()) {
            engine().events.report(new LockEvent.Downgraded(claim.subject(), fencingToken(), claim.heldFor()));
        }
    }

    @Override
    public String lockName() {
        return claim.lockName();
    }

    @Override
    public long fencingToken() {
        return claim.fencingToken();
    }

    @Override
    public Duration remaining() {
        return isValid() ? Duration.ofNanos(Math.max(0, claim.lease().validUntilNanos() - claim.now())) : Duration.ZERO;
    }

    @Override
    public boolean isValid() {
        return claim.isValid(asReader);
    }

    @Override
    public Mono<LossReason> onLoss() {
        return Mono.defer(() -> signals.loss().doOnTerminate(this::stayReachable));
    }

    Mono<Void> noLongerHeld() {
        return Mono.defer(() -> signals.noLongerHeld().doOnTerminate(this::stayReachable));
    }

    /** The waiting subscriber refers to this method, and so to this handle, which is not abandoned then. */
    private void stayReachable() {}

    @Override
    public Runnable giveBack() {
        HeldClaim held = claim;
        boolean side = asReader;
        return () -> held.release(side);
    }

    /** The least hold time does not apply, unless work has begun under the writer's lease before. */
    @Override
    public void releaseUnused() {
        claim.handedOut &= asReader;
        claim.release(asReader);
    }

    @Override
    public void bePart() {
        isPart = true;
    }

    @Override
    public Context enter(Context context) {
        bePart();
        return HeldLocks.with(this, context);
    }

    @Override
    public LockLostException lost() {
        return claim.lost(asReader);
    }

    @Override
    public Mono<Void> renew() {
        return engine().delivery.of(Mono.defer(this::renewed));
    }

    private Mono<Void> renewed() {
        if (!isValid()) {
            return Mono.error(lost());
        }
        long sentAt = claim.now();
        return BackendCall.mono(
                        engine(),
                        lockName(),
                        "renewal",
                        lock().operationNanos(),
                        () -> engine().backend
                                .renew(claim.renewal())
                                .doOnNext(answer -> claim.renewedByHand(asReader, sentAt, answer)))
                .flatMap(answer -> {
                    if (answer instanceof Renewal.Unknown unknown) {
                        return Mono.error(unknown.failure());
                    }
                    return isValid() ? Mono.empty() : Mono.error(lost());
                });
    }

    @Override
    public Mono<String> export() {
        return Mono.defer(() -> engine().has(LockFeature.HAND_ON)
                ? Successor.export(this)
                : engine().delivery.of(Mono.error(Adoption.unsupported(engine()))));
    }

    @Override
    public Mono<LockLease> downgrade() {
        return Mono.defer(() -> {
            RuntimeException refusal = refusalOfDowngrade();
            return refusal == null
                    ? Successor.downgrade(this)
                    : engine().delivery.of(Mono.error(refusal));
        });
    }

    private @Nullable RuntimeException refusalOfDowngrade() {
        String name = Printable.text(lockName());
        if (key().kind() != LockKind.WRITE) {
            return new IllegalStateException(
                    "only a lease of a write lock can be downgraded, and this lease of lock '%s' is one of a %s lock"
                            .formatted(name, key().kind()));
        }
        if (isPart) {
            return new IllegalStateException(
                    "this lease of lock '%s' is released by withLock, or with others of a MultiLease, and cannot be downgraded: acquire() the write lock by itself"
                            .formatted(name));
        }
        return engine().has(LockFeature.DOWNGRADE) ? null : engine().unsupported("turn a writer into a reader");
    }

    @Override
    public Mono<Void> release() {
        return Mono.defer(() -> {
            claim.release(asReader);
            return signals.released();
        });
    }

    @Override
    public void watchLoss(Holder holder) {
        signals.watchLoss(holder);
    }

    @Override
    public void stopWatchingLoss() {
        signals.forgetHolder();
    }

    @Override
    public void tell(Runnable signal) {
        signals.tell(signal);
    }

    @Override
    public void release(Holder holder) {
        claim.release(asReader);
        signals.watchRelease(holder);
    }

    @Override
    public String toString() {
        return "LockLease[%s, token %d, %s left]".formatted(Printable.text(lockName()), fencingToken(), remaining());
    }
}
