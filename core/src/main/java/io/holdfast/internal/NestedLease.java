package io.holdfast.internal;

import io.holdfast.LockLease;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * What an acquisition inside the same lock gives: a view of the outermost lease with an end of its own. Releasing it asks the store for
 * nothing; the outermost release frees the lock and ends all views.
 */
final class NestedLease implements LockLease {

    private final LeaseHandle outermost;
    private final AtomicBoolean released = new AtomicBoolean();
    private final Sinks.Empty<LossReason> ended = Sinks.empty();

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
        return released.get() ? Duration.ZERO : outermost.remaining();
    }

    @Override
    public boolean isValid() {
        return !released.get() && outermost.isValid();
    }

    @Override
    public Mono<LossReason> onLoss() {
        return Mono.firstWithSignal(ended.asMono(), outermost.onLoss());
    }

    @Override
    public Mono<Void> renew() {
        return Mono.defer(() -> released.get() ? Mono.error(outermost.held().lost()) : outermost.renew());
    }

    @Override
    public Mono<Void> release() {
        return Mono.defer(() -> {
            boolean valid = outermost.isValid();
            if (released.compareAndSet(false, true)) {
                Sinks.EmitResult unused = ended.tryEmitEmpty();
            }
            return valid || outermost.held().isReleased()
                    ? Mono.empty()
                    : Mono.error(outermost.held().lost());
        });
    }

    @Override
    public String toString() {
        return "nested " + outermost;
    }
}
