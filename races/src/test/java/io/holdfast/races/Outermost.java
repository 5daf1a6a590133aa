package io.holdfast.races;

import io.holdfast.LockLease;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** A {@code withLock} whose work does not end, so that other work can nest in it. The race releases its lease by hand. */
final class Outermost {

    // Written when the work begins, before the race.
    private volatile @Nullable LockLease lease;
    private volatile ContextView inside = Context.empty();

    Outermost(Bench bench) {
        Disposable unused = bench.lock
                .withLock(granted -> Mono.deferContextual(context -> {
                    lease = granted;
                    inside = context;
                    return Mono.never();
                }))
                .subscribe();
        bench.store.grant();
    }

    <T> Mono<T> nested(Mono<T> mono) {
        return mono.contextWrite(inside);
    }

    void release() {
        LockLease held = lease;
        if (held == null) {
            throw new IllegalStateException("no lease came");
        }
        Disposable unused = held.release().subscribe();
    }
}
