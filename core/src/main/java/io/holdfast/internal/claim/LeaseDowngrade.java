package io.holdfast.internal.claim;

import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.run.Delivery;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One subscription to {@code downgrade}: it emits the read lease, or the error; after a cancellation before that, the
 * lock is released.
 */
final class LeaseDowngrade implements LeaseSuccession, Subscription {

    private final HeldLease writer;
    private final Emission<LeaseHandle> emission;

    LeaseDowngrade(HeldLease writer, CoreSubscriber<? super LockLease> subscriber) {
        this.writer = writer;
        emission = new Emission<>(subscriber, writer.lock().engine().delivery);
    }

    Context context() {
        return emission.context();
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n) && emission.isIdle() && emission.open() && !writer.downgrade(this)) {
            failed(writer.lost());
        }
    }

    /** Before the read lease is open, this releases the writer; after that, {@link #emit} detects the cancellation. */
    @Override
    public void cancel() {
        emission.leave(writer::downgradeCancelled);
    }

    @Override
    public void failed(Throwable why) {
        emission.fail(why);
    }

    /** Handles the opened read lease. */
    void succeeded(LeaseHandle reader) {
        Delivery delivery = reader.held().lock().engine().delivery;
        delivery.run(() -> emit(reader), rejected -> {
            reader.held().release();
            emission.failNow(delivery.refusal(reader.lockName(), rejected));
        });
    }

    private void emit(LeaseHandle reader) {
        if (!reader.isValid()) {
            reader.held().release();
            emission.failNow(reader.lost());
        } else if (emission.begin()) {
            Engine engine = reader.held().lock().engine();
            if (engine.events.areWanted()) {
                engine.events.report(new LockEvent.Downgraded(
                        reader.lockName(), reader.fencingToken(), reader.held().heldFor()));
            }
            emission.emit(reader);
        } else {
            reader.held().release();
        }
    }
}
