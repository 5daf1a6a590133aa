package io.holdfast.internal.claim;

import io.holdfast.LockLease;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.engine.Engine;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/** A text for another process, or a read lease, in place of a release. A cancellation before that releases the lock. */
abstract class Successor<T> implements Emission.Owner {

    final LeaseHandle lease;
    final Engine engine;
    final Emission<T> emission;

    private Successor(LeaseHandle lease, CoreSubscriber<? super T> subscriber) {
        this.lease = lease;
        engine = lease.lock().engine();
        emission = new Emission<>(subscriber, engine, this);
    }

    static Mono<String> export(LeaseHandle lease) {
        return Emission.mono(subscriber -> new Export(lease, subscriber).emission);
    }

    static Mono<LockLease> downgrade(LeaseHandle lease) {
        return Emission.mono(subscriber -> new Downgrade(lease, subscriber).emission);
    }

    abstract Step asked(LeaseState state, long nowNanos);

    @Override
    public void begin() {
        if (!lease.succeed(this)) {
            failed(lease.lost());
        }
    }

    @Override
    public void left() {
        lease.claim.successorCancelled(this);
    }

    final void failed(Throwable why) {
        emission.fail(why);
    }

    /**
     * A cancellation after the emission has begun releases nothing, since a process may have the text. The lease is over
     * for the client when the emission, or the release in place of it, has begun; in any case after an operation timeout.
     */
    static final class Export extends Successor<String> {

        private final AtomicBoolean isReleased = new AtomicBoolean();

        /** Whether the text is due. Not before nested work was told. */
        private volatile boolean isDue;

        private Export(LeaseHandle lease, CoreSubscriber<? super String> subscriber) {
            super(lease, subscriber);
        }

        @Override
        Step asked(LeaseState state, long nowNanos) {
            return state.exportAsked(nowNanos);
        }

        /** The text may be on its way already. */
        @Override
        public void left() {
            super.left();
            if (isDue) {
                release();
            }
        }

        /** No process has the text. */
        private void release() {
            if (isReleased.compareAndSet(false, true)) {
                lease.claim.releaseInBackground();
                lease.claim.leaseOver();
            }
        }

        void succeeded(long minHoldNanos) {
            isDue = true;
            if (emission.isOver()) {
                release();
                return;
            }
            String text;
            try {
                text = lease.claim.handedOn(minHoldNanos).text();
            } catch (Throwable broken) {
                release();
                failed(broken);
                Exceptions.throwIfJvmFatal(broken); // only now: otherwise the subscriber would wait for ever
                return;
            }
            engine.delivery.run(() -> {
                if (emission.begin()) {
                    lease.claim.leaseOver();
                    emission.emit(text);
                } else {
                    release();
                }
            });
            if (!emission.isOver()) {
                lease.claim.leaseOverInTime();
            }
        }
    }

    static final class Downgrade extends Successor<LockLease> {

        private Downgrade(LeaseHandle lease, CoreSubscriber<? super LockLease> subscriber) {
            super(lease, subscriber);
        }

        @Override
        Step asked(LeaseState state, long nowNanos) {
            return state.downgradeAsked(nowNanos);
        }

        void succeeded(LeaseHandle reader) {
            emission.deliver(reader, reader, reader.lockName());
        }
    }
}
