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
final class LeaseDowngrade implements Successor, Subscription {

    private final Claim writer;
    private final Emission<LeaseHandle> emission;

    LeaseDowngrade(Claim writer, CoreSubscriber<? super LockLease> subscriber) {
        this.writer = writer;
        emission = new Emission<>(subscriber, writer.lock().engine().delivery);
    }

    Context context() {
        return emission.context();
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n) && emission.isIdle() && emission.open() && !writer.downgrade(this)) {
            failed(writer.lost(false));
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
        Delivery delivery = reader.lock().engine().delivery;
        delivery.run(() -> emit(reader), rejected -> {
            reader.claim().release(true);
            emission.failNow(delivery.refusal(reader.lockName(), rejected));
        });
    }

    private void emit(LeaseHandle reader) {
        if (!reader.isValid()) {
            reader.claim().release(true);
            emission.failNow(reader.lost());
        } else if (emission.begin()) {
            Engine engine = reader.lock().engine();
            if (engine.events.areWanted()) {
                engine.events.report(new LockEvent.Downgraded(
                        reader.lockName(), reader.fencingToken(), reader.claim().heldFor()));
            }
            emission.emit(reader);
        } else {
            reader.claim().release(true);
        }
    }
}
