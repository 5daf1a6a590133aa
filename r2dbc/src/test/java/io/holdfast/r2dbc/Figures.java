package io.holdfast.r2dbc;

import io.holdfast.LockClient;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Prints what record 0052 says: cycles of acquire and release beside the same functions called bare, one per transaction, and hand-offs. Rounds
 * are interleaved, so the ratios count and not the figures. The server is a new one, which flushes its disk.
 */
public final class Figures {

    private static final int ROUNDS = 3;
    private static final Duration WARM_UP = Duration.ofSeconds(4);
    private static final Duration TIME = Duration.ofSeconds(2);

    /** As many connections as a client has. */
    private static final int CONNECTIONS = 3;

    /** The driver refuses more requests on one connection. */
    private static final int MOST_PER_CONNECTION = 64;

    private static final String CALL =
            "select n, answer from holdfast_call_v1($1, 2000, false, array[$2], array[$3], array['mutex'],"
                    + " array['mutex'], array[1], array[$4], array[30000::bigint], array[1], array[false])";

    private final List<Connection> connections;
    private final LockClient locks;
    private final LockClient other;

    private Figures(Store store) {
        connections =
                IntStream.range(0, CONNECTIONS).mapToObj(i -> store.connect()).toList();
        locks = LockClient.create(R2dbcLockBackend.create(store.connections()));
        other = LockClient.create(R2dbcLockBackend.create(store.connections()));
    }

    public static void main(String[] arguments) {
        try (Store store = Store.durable()) {
            new Figures(store).print();
        }
        System.exit(0);
    }

    private void print() {
        double unused = rate(64, WARM_UP, this::cycle) + rate(64, WARM_UP, this::bareCycle);
        for (int inFlight : List.of(1, 64, 1024)) {
            for (int round = 0; round < ROUNDS; round++) {
                double ours = rate(inFlight, TIME, this::cycle);
                double bare = rate(Math.min(inFlight, CONNECTIONS * MOST_PER_CONNECTION), TIME, this::bareCycle);
                System.out.printf(
                        "%d in flight: %.0f cycles/s, bare %.0f, ratio %.2f%n", inFlight, ours, bare, ours / bare);
            }
        }
        for (int round = 0; round < ROUNDS; round++) {
            System.out.printf(
                    "100 waiters: %.0f hand-offs/s in one client, %.0f between two%n",
                    rate(100, TIME, i -> contended(locks)),
                    rate(100, TIME, i -> contended(i % 2 == 0 ? locks : other)));
        }
    }

    private Mono<Integer> cycle(int i) {
        return locks.lock("figures/" + i).withLock(lease -> Mono.just(1));
    }

    private static Mono<Integer> contended(LockClient client) {
        return client.lock("figures/hot").withLock(lease -> Mono.just(1));
    }

    private Mono<Integer> bareCycle(int i) {
        Connection connection = connections.get(i % CONNECTIONS);
        String id = UUID.randomUUID().toString();
        return bare(connection, "none", i, id).then(bare(connection, "release", i, id));
    }

    private static Mono<Integer> bare(Connection connection, String verb, int i, String id) {
        return Flux.from(connection
                        .createStatement(CALL)
                        .bind("$1", "")
                        .bind("$2", verb)
                        .bind("$3", "bare/" + i)
                        .bind("$4", id)
                        .execute())
                .concatMap(result -> result.map(row -> row.get(0, Integer.class)))
                .last();
    }

    private static double rate(int inFlight, Duration time, IntFunction<Publisher<Integer>> cycle) {
        long start = System.nanoTime();
        AtomicLong count = new AtomicLong();
        Flux.range(0, inFlight)
                .flatMap(
                        i -> Mono.defer(() -> Mono.from(cycle.apply(i)))
                                .doOnSuccess(one -> count.incrementAndGet())
                                .repeat(() -> System.nanoTime() - start < time.toNanos())
                                .then(),
                        inFlight)
                .blockLast(Duration.ofMinutes(2));
        return count.get() * 1e9 / (System.nanoTime() - start);
    }
}
