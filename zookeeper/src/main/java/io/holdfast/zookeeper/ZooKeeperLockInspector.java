package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.internal.operation.LockOperations;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Inspects the locks under one root. Borrows the client, as a back end does. */
record ZooKeeperLockInspector(LockOperations operations) implements LockInspector {

    /** The kinds of lock that one name can stand for. */
    private static final List<LockKind> KINDS = List.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE);

    @Override
    public Flux<LockReport> inspect(String name) {
        List<LockKey> keys = KINDS.stream().map(kind -> LockKey.of(kind, name)).toList();
        return Flux.fromIterable(keys).concatMap(operations::report);
    }

    @Override
    public Flux<LockReport> all() {
        return Flux.fromIterable(KINDS)
                .concatMap(kind -> operations
                        .names(kind)
                        .flatMapIterable(names -> names)
                        .concatMap(name -> operations.report(LockKey.of(kind, name)), 1));
    }

    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKey key = LockKey.of(requireNonNull(holder, "holder").kind(), lockName);
        return operations.breakHold(key, holder.claimId());
    }

    @Override
    public Mono<Void> close() {
        return operations.close();
    }
}
