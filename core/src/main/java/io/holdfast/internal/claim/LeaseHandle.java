package io.holdfast.internal.claim;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Renewals;
import io.holdfast.internal.run.Turn;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
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

    private final HeldLease held;

    /** Whether a {@code withLock} or a {@code MultiLease} owns it, and releases it. Written before the user gets it. */
    private volatile boolean isPart;

    LeaseHandle(HeldLease held) {
        this.held = held;
    }

    public HeldLease held() {
        return held;
    }

    @Override
    public String lockName() {
        return held.claim().key().name();
    }

    @Override
    public long fencingToken() {
        return held.fencingToken();
    }

    @Override
    public Duration remaining() {
        return held.remaining();
    }

    @Override
    public boolean isValid() {
        return held.isValid();
    }

    @Override
    public Mono<LossReason> onLoss() {
        return Mono.defer(() -> held.signals().loss().doOnTerminate(this::stayReachable));
    }

    /** Completes when the release is requested, or when the lease is lost; nested leases wait for it. */
    Mono<Void> noLongerHeld() {
        return Mono.defer(() -> held.signals().noLongerHeld().doOnTerminate(this::stayReachable));
    }

    @Override
    public Runnable giveBack() {
        return held::release;
    }

    @Override
    public void releaseUnused() {
        held.releaseUnused();
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
        return held.lost();
    }

    /**
     * The waiting subscriber refers to this method, and so to this handle: a lease with a subscriber to its loss is not
     * abandoned.
     */
    private void stayReachable() {}

    @Override
    public Mono<Void> renew() {
        return Mono.<Void>create(sink -> {
                    if (!held.isValid()) {
                        sink.error(held.lost());
                        return;
                    }
                    Engine engine = held.lock().engine();
                    long sentAt = engine.alarms.now();
                    BackendCall.start(
                            engine,
                            lockName(),
                            held.lock().operationNanos(),
                            Context.of(sink.contextView()),
                            new BackendCall.Request<Renewal>() {
                                @Override
                                public String what() {
                                    return "renewal";
                                }

                                @Override
                                public Mono<Renewal> ask() {
                                    return engine.backend.renew(held.renewal());
                                }

                                @Override
                                public void answered(Renewal answer) {
                                    try {
                                        held.renewedByHand(sentAt, answer);
                                    } catch (RuntimeException unreadable) {
                                        failed(Renewals.unreadable(lockName(), unreadable));
                                        return;
                                    }
                                    if (answer instanceof Renewal.Unknown unknown) {
                                        sink.error(unknown.failure());
                                    } else if (held.isValid()) {
                                        sink.success();
                                    } else {
                                        sink.error(held.lost());
                                    }
                                }

                                @Override
                                public void failed(LockBackendException error) {
                                    Turn.runUsersCode(() -> sink.error(error));
                                }
                            },
                            sentAt);
                })
                .transform(this::delivered);
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
                    subscriber.onSubscribe(new LeaseDowngrade(held, subscriber));
                } else {
                    delivered(Mono.<LockLease>error(refusal)).subscribe(subscriber);
                }
            }
        };
    }

    private @Nullable RuntimeException refusalOfDowngrade() {
        LockBackend backend = held.lock().engine().backend;
        String name = Printable.text(lockName());
        if (held.claim().key().kind() != LockKind.WRITE) {
            return new IllegalStateException(
                    "only a lease of a write lock can be downgraded, and this lease of lock '%s' is one of a %s lock"
                            .formatted(name, held.claim().key().kind()));
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
            held.release();
            return held.signals().released();
        });
    }

    @Override
    public void watchLoss(Holder holder) {
        held.signals().watchLoss(holder);
    }

    @Override
    public void stopWatchingLoss() {
        held.signals().forgetHolder();
    }

    @Override
    public void release(Holder holder) {
        held.release();
        held.signals().watchRelease(holder);
    }

    private <T> Mono<T> delivered(Mono<T> result) {
        return held.lock().engine().delivery.of(result);
    }

    @Override
    public String toString() {
        return "LockLease[%s, token %d, %s left]".formatted(Printable.text(lockName()), fencingToken(), remaining());
    }
}
