package io.holdfast.r2dbc;

import io.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Prints the figures of record 0056: the statements and flushes of the server for a cycle of acquire and release, and for a hand-off. The
 * server is new and flushes its disk.
 */
public final class MariaDbFigures {

    private static final Duration TIME = Duration.ofSeconds(3);

    private final Store store;
    private final LockClient locks;
    private final LockClient other;

    private MariaDbFigures(Store store) {
        this.store = store;
        locks = LockClient.create(R2dbcLockBackend.create(store.connections()));
        other = LockClient.create(R2dbcLockBackend.create(store.connections()));
    }

    public static void main(String[] arguments) {
        try (Store store = Store.withSchema(MariaDbStore.durableMariaDb())) {
            new MariaDbFigures(store).print();
        }
        System.exit(0);
    }

    private void print() {
        report("warm-up", 64, this::cycle);
        report("1 in flight", 1, this::cycle);
        report("64 in flight", 64, this::cycle);
        report("100 waiters of one client", 100, i -> contended(locks));
        report("100 waiters of two clients", 100, i -> contended(i % 2 == 0 ? locks : other));
    }

    private void report(String what, int inFlight, IntFunction<Publisher<Integer>> cycle) {
        long questions = status("Questions");
        long flushes = status("Innodb_data_fsyncs");
        long start = System.nanoTime();
        AtomicLong count = new AtomicLong();
        Flux.range(0, inFlight)
                .flatMap(
                        i -> Mono.defer(() -> Mono.from(cycle.apply(i)))
                                .doOnSuccess(one -> count.incrementAndGet())
                                .repeat(() -> System.nanoTime() - start < TIME.toNanos())
                                .then(),
                        inFlight)
                .blockLast(Duration.ofMinutes(2));
        double cycles = count.get();
        System.out.printf(
                "%s: %.0f cycles/s, %.2f statements and %.2f flushes per cycle%n",
                what,
                cycles * 1e9 / (System.nanoTime() - start),
                (status("Questions") - questions) / cycles,
                (status("Innodb_data_fsyncs") - flushes) / cycles);
    }

    private Mono<Integer> cycle(int i) {
        return locks.lock("figures/" + i).withLock(lease -> Mono.just(1));
    }

    private static Mono<Integer> contended(LockClient client) {
        return client.lock("figures/hot").withLock(lease -> Mono.just(1));
    }

    private long status(String name) {
        return Long.parseLong(
                store.texts("select variable_value from information_schema.global_status where variable_name = '" + name
                                + "'")
                        .get(0));
    }
}
