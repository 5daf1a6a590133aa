package io.holdfast.r2dbc;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Prints how ten thousand waiters of one lock are served by one client: their order, connections, heap and time. */
public final class ManyWaiters {

    private static final Duration LIMIT = Duration.ofMinutes(10);

    private ManyWaiters() {}

    public static void main(String[] arguments) {
        int count = arguments.length == 0 ? 10_000 : Integer.parseInt(arguments[0]);
        try (Store store = Store.start()) {
            print(store, count);
        }
        System.exit(0);
    }

    private static void print(Store store, int count) {
        R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        LockOptions patient = LockOptions.builder().waitTimeout(LIMIT).build();
        LockLease held = locks.lock("many").acquire().block(LIMIT);
        List<Integer> order = new ArrayList<>();
        long before = heap();
        Mono<Void> all = Flux.range(0, count)
                .flatMap(
                        i -> locks.lock("many").with(patient).withLock(lease -> Mono.fromRunnable(() -> order.add(i))),
                        count)
                .then()
                .cache();
        long start = System.nanoTime();
        Disposable unused = all.subscribe();
        String waiting = "select count(*) from holdfast_waiter where place = 'queue'";
        while (Integer.parseInt(store.texts(waiting).get(0)) < count) {
            Mono.delay(Duration.ofMillis(50)).block();
        }
        long queued = System.nanoTime();
        System.out.printf(
                "%d queued in %d ms, %d connections, %d bytes of heap each%n",
                count, (queued - start) / 1_000_000, store.clientConnections(), (heap() - before) / count);
        held.release().block(LIMIT);
        all.block(LIMIT);
        boolean isSorted = order.equals(order.stream().sorted().toList());
        System.out.printf(
                "%d served %s in %d ms, %d connections%n",
                order.size(),
                isSorted ? "in order" : "OUT OF ORDER",
                (System.nanoTime() - queued) / 1_000_000,
                store.clientConnections());
        locks.close().block(LIMIT);
        Store.end(backend);
    }

    private static long heap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
