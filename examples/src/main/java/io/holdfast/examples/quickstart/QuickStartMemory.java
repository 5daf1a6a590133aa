package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.memory.InMemoryLockBackend;
import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

public final class QuickStartMemory {

    public static void main(String[] args) {
        LockClient locks = LockClient.create(InMemoryLockBackend.create());

        Flux.just("first", "second", "third") // all three ask at once
                .flatMap(buyer -> locks.lock("stock/42").withLock(lease -> buy(buyer, lease)))
                .doOnNext(System.out::println)
                .blockLast();
        locks.close().block();
    }

    private static Mono<String> buy(String buyer, LockLease lease) {
        return Mono.delay(Duration.ofMillis(100))
                .map(tick -> buyer + " buyer has token " + lease.fencingToken() + ", valid: " + lease.isValid());
    }
}
