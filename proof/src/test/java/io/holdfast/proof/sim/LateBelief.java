package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/**
 * A lock whose leases are believed for their whole duration, although their claim was handed on.
 *
 * @param wrong replaces each lease
 */
record LateBelief(ReactiveLock real, UnaryOperator<LockLease> wrong) implements ForwardingLock {

    static ReactiveLock afterADowngrade(Host host, ReactiveLock real) {
        return new LateBelief(real, lease -> new Lease(lease, host, true));
    }

    static ReactiveLock afterAnExport(Host host, ReactiveLock real) {
        return new LateBelief(real, lease -> new Lease(lease, host, false));
    }

    @Override
    public ReactiveLock with(LockOptions options) {
        return new LateBelief(real.with(options), wrong);
    }

    @Override
    public Mono<LockLease> tryAcquire() {
        return real.tryAcquire().map(wrong);
    }

    @Override
    public Mono<LockLease> acquire() {
        return real.acquire().map(wrong);
    }

    private static final class Lease implements LockLease {

        private final LockLease real;
        private final Host host;
        private final boolean isWriter;
        private long believedUntil;

        Lease(LockLease real, Host host, boolean isWriter) {
            this.real = real;
            this.host = host;
            this.isWriter = isWriter;
            believedUntil = host.nanoTime();
        }

        private void goesOn() {
            believedUntil = host.nanoTime() + real.remaining().toNanos();
        }

        @Override
        public String lockName() {
            return real.lockName();
        }

        @Override
        public long fencingToken() {
            return real.fencingToken();
        }

        @Override
        public Duration remaining() {
            long late = Math.max(0, believedUntil - host.now(TimeUnit.NANOSECONDS));
            return real.isValid() ? real.remaining() : Duration.ofNanos(late);
        }

        @Override
        public boolean isValid() {
            return !remaining().isZero();
        }

        @Override
        public Mono<LossReason> onLoss() {
            return real.onLoss();
        }

        @Override
        public Mono<Void> renew() {
            return real.renew();
        }

        @Override
        public Mono<String> export() {
            return isWriter
                    ? real.export()
                    : Mono.defer(() -> {
                        goesOn();
                        return real.export();
                    });
        }

        @Override
        public Mono<LockLease> downgrade() {
            return isWriter
                    ? Mono.defer(() -> {
                        goesOn();
                        return real.downgrade();
                    })
                    : real.downgrade();
        }

        @Override
        public Mono<Void> release() {
            return real.release();
        }
    }
}
