package io.holdfast.internal.claim;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * The user's side of a lease. The engine holds it weakly. So each object that must keep the lease alive refers to it,
 * such as the publishers made here.
 */
public final class LeaseHandle implements EngineLease, Emission.Returnable {

    private final Claim claim;
    private final LeaseSignals signals;

    /** Whether it is the read lease that follows a downgrade; the claim's other lease has ended then. */
    private final boolean asReader;

    /** Whether a {@code withLock} or a {@code MultiLease} owns it, and releases it. Written before the user gets it. */
    private volatile boolean isPart;

    LeaseHandle(Claim claim, LeaseSignals signals, boolean asReader) {
        this.claim = claim;
        this.signals = signals;
        this.asReader = asReader;
    }

    Claim claim() {
        return claim;
    }

    LockSettings lock() {
        return claim.lock();
    }

    LockKey key() {
        return claim.key(asReader);
    }

    boolean isHeld() {
        return claim.isHeld() && !isReleased();
    }

    boolean isReleased() {
        return claim.isReleased(asReader);
    }

    Loss lossOfViews() {
        return claim.lossOfViews(asReader);
    }

    boolean export(LeaseExport wanted) {
        return claim.export(asReader, wanted);
    }

    /** Called right before the holder gets the lease, if it was granted together with others. */
    public void handedOut() {
        claim.handedOut();
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
        return claim.remaining(asReader);
    }

    @Override
    public boolean isValid() {
        return claim.isValid(asReader);
    }

    @Override
    public Mono<LossReason> onLoss() {
        return Mono.defer(() -> signals.loss().doOnTerminate(this::stayReachable));
    }

    /** Completes when the release is requested, or when the lease is lost; nested leases wait for it. */
    Mono<Void> noLongerHeld() {
        return Mono.defer(() -> signals.noLongerHeld().doOnTerminate(this::stayReachable));
    }

    @Override
    public Runnable giveBack() {
        Claim held = claim;
        boolean side = asReader;
        return () -> held.release(side);
    }

    @Override
    public void releaseUnused() {
        claim.releaseUnused(asReader);
    }

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

    /**
     * The waiting subscriber refers to this method, and so to this handle: a lease with a subscriber to its loss is not
     * abandoned.
     */
    private void stayReachable() {}

    @Override
    public Mono<Void> renew() {
        return Mono.defer(this::renewed).transform(this::delivered);
    }

    private Mono<Void> renewed() {
        if (!isValid()) {
            return Mono.error(lost());
        }
        Engine engine = lock().engine();
        long sentAt = engine.alarms.now();
        return BackendCall.mono(
                        engine,
                        lockName(),
                        "renewal",
                        lock().operationNanos(),
                        () -> engine.backend
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
        return LeaseExport.of(this);
    }

    @Override
    public Mono<LockLease> downgrade() {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super LockLease> subscriber) {
                RuntimeException refusal = refusalOfDowngrade();
                if (refusal == null) {
                    subscriber.onSubscribe(new LeaseDowngrade(claim, subscriber));
                } else {
                    delivered(Mono.<LockLease>error(refusal)).subscribe(subscriber);
                }
            }
        };
    }

    private @Nullable RuntimeException refusalOfDowngrade() {
        LockBackend backend = claim.lock().engine().backend;
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
        return backend.features().contains(LockFeature.DOWNGRADE)
                ? null
                : new UnsupportedOperationException("back end %s cannot turn a writer into a reader, it has only %s"
                        .formatted(backend.name(), new TreeSet<>(backend.features())));
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
    public void release(Holder holder) {
        claim.release(asReader);
        signals.watchRelease(holder);
    }

    private <T> Mono<T> delivered(Mono<T> result) {
        return claim.lock().engine().delivery.of(result);
    }

    @Override
    public String toString() {
        return "LockLease[%s, token %d, %s left]".formatted(Printable.text(lockName()), fencingToken(), remaining());
    }
}
