package io.holdfast.memory;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Inspects one {@link InMemoryLockBackend}. It has nothing to close. */
record InMemoryLockInspector(InMemoryLockBackend store) implements LockInspector {

    @Override
    public Flux<LockReport> inspect(String name) {
        String checked = LockKey.of(LockKind.MUTEX, name).name();
        return reports(() -> store.reports(checked));
    }

    @Override
    public Flux<LockReport> all() {
        return reports(store::reports);
    }

    private static Flux<LockReport> reports(Supplier<List<LockReport>> reading) {
        return Mono.fromSupplier(reading).flatMapIterable(reports -> reports);
    }

    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKey key = LockKey.of(holder.kind(), lockName);
        return Mono.fromSupplier(() -> store.breakHold(key, holder.claimId()));
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }
}
