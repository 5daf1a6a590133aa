package io.holdfast.internal.claim;

import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.run.Delivery;
import io.holdfast.spi.LockFeature;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * One subscription to {@code export}: it emits the text or the error. A cancellation before that releases the lock. One
 * atomic field decides between the two.
 *
 * <p>A cancellation after the emission has begun releases nothing, since a process may have the text. If an operator
 * drops the text then, the lock stays held until its lease ends.
 */
final class LeaseExport implements Successor, Subscription {

    private enum Stage {
        /** No request yet: the lease is unchanged. */
        IDLE,
        /** The end of the lease is requested. */
        ASKED,
        /** The lease was handed on, and its text is on its way to the subscriber. */
        READY,
        /** The subscriber gets its signal, or has cancelled. */
        OVER
    }

    private final LeaseHandle lease;
    private final CoreSubscriber<? super String> subscriber;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.IDLE);

    private LeaseExport(LeaseHandle lease, CoreSubscriber<? super String> subscriber) {
        this.lease = lease;
        this.subscriber = subscriber;
    }

    static Mono<String> of(LeaseHandle lease) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super String> subscriber) {
                subscriber.onSubscribe(new LeaseExport(lease, subscriber));
            }
        };
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n) && stage.compareAndSet(Stage.IDLE, Stage.ASKED)) {
            start();
        }
    }

    private void start() {
        Engine engine = lease.lock().engine();
        if (!engine.backend.features().contains(LockFeature.HAND_ON)) {
            failed(Adoption.unsupported(engine.backend));
        } else if (!lease.export(this)) {
            failed(lease.lost());
        }
    }

    @Override
    public void cancel() {
        switch (stage.getAndSet(Stage.OVER)) {
            case ASKED -> lease.claim().exportCancelled();
            case READY -> lease.claim().releaseHandedOn();
            default -> {}
        }
    }

    /** Emits the text. If it cannot be made, the lock is released, since no process has it. */
    void succeeded(Supplier<ExportedLease> exported) {
        String text;
        try {
            text = exported.get().text();
        } catch (Throwable broken) {
            lease.claim().releaseHandedOn();
            failed(broken);
            Exceptions.throwIfJvmFatal(broken); // only now: otherwise the subscriber would wait for ever
            return;
        }
        if (stage.compareAndSet(Stage.ASKED, Stage.READY)) {
            delivery().run(() -> {
                if (stage.compareAndSet(Stage.READY, Stage.OVER)) {
                    subscriber.onNext(text);
                    subscriber.onComplete();
                }
            });
        } else {
            lease.claim().releaseHandedOn(); // the subscriber has cancelled meanwhile
        }
    }

    private Delivery delivery() {
        return lease.lock().engine().delivery;
    }

    @Override
    public void failed(Throwable why) {
        delivery().run(() -> {
            if (stage.compareAndSet(Stage.ASKED, Stage.OVER)) {
                subscriber.onError(why);
            }
        });
    }
}
