package io.holdfast.internal;

import io.holdfast.LockBackendException;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.spi.Printable;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * The user's side of a lease. The engine holds it weakly, so everything that must keep the lease alive refers to this object: the
 * publishers made here do.
 */
final class LeaseHandle implements EngineLease, Emission.Returnable {

    private final HeldLease held;

    LeaseHandle(HeldLease held) {
        this.held = held;
    }

    HeldLease held() {
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

    /** Completes when its release is asked for, or when it is lost: what nested leases wait for. */
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

    @Override
    public Context enter(Context context) {
        return HeldLocks.with(this, context);
    }

    @Override
    public LockLostException lost() {
        return held.lost();
    }

    /** The waiting subscriber refers to this method, and so to this handle: who waits for the loss has not abandoned the lease. */
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
    public Mono<Void> release() {
        return Mono.defer(() -> {
            held.release();
            return held.signals().released();
        });
    }

    @Override
    public void watchLoss(Holder holder) {
        held.signals().tellOfLoss(holder);
    }

    @Override
    public void stopWatchingLoss() {
        held.signals().forgetHolder();
    }

    @Override
    public void release(Holder holder) {
        held.release();
        held.signals().tellOfRelease(holder);
    }

    private <T> Mono<T> delivered(Mono<T> result) {
        var deliverOn = held.lock().engine().deliverOn;
        return deliverOn == null ? result : result.publishOn(deliverOn);
    }

    @Override
    public String toString() {
        return "LockLease[%s, token %d, %s left]".formatted(Printable.text(lockName()), fencingToken(), remaining());
    }
}
