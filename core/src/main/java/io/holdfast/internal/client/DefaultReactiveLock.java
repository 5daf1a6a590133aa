package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.internal.claim.HeldLocks;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.spi.support.Printable;
import reactor.core.publisher.Mono;

class DefaultReactiveLock extends LockWithWork<LockLease> implements ReactiveLock {

    final LockSettings settings;

    DefaultReactiveLock(LockSettings settings) {
        this.settings = settings;
    }

    @Override
    public String name() {
        return settings.key().name();
    }

    @Override
    public ReactiveLock with(LockOptions options) {
        return new DefaultReactiveLock(settings.with(requireNonNull(options, "options")));
    }

    @Override
    public Mono<LockLease> tryAcquire() {
        return HeldLocks.acquire(settings, Mode.TRY, false);
    }

    @Override
    public Mono<LockLease> acquire() {
        return HeldLocks.acquire(settings, settings.terms().acquireMode(), false);
    }

    @Override
    public Mono<LockLease> current() {
        return Mono.deferContextual(context -> Mono.justOrEmpty(HeldLocks.current(settings, context)));
    }

    @Override
    public String toString() {
        String permits = settings.permits() == 1 ? "" : ", %d permits".formatted(settings.permits());
        return "ReactiveLock[%s '%s'%s, %s]"
                .formatted(settings.key().kind(), Printable.text(name()), permits, settings.options());
    }
}
