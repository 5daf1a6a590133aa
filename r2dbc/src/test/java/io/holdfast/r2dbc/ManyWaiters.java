package io.holdfast.r2dbc;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntFunction;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Prints how ten thousand waiters of one client are served, first for one lock and then for a lock each: their order, connections, heap,
 * time, and the work of client and server.
 */
public final class ManyWaiters {

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(LIMIT).build();

    /** Holders and waiters are one client, and use three connections together. */
    private final PostgresStore store;

    private final LockClient locks;
    private final int count;

    private ManyWaiters(PostgresStore store, LockClient locks, int count) {
        this.store = store;
        this.locks = locks;
        this.count = count;
    }

    public static void main(String[] arguments) {
        int count = arguments.length == 0 ? 10_000 : Integer.parseInt(arguments[0]);
        try (PostgresStore store = Store.start()) {
            R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
            LockClient locks = LockClient.create(backend);
            ManyWaiters waiters = new ManyWaiters(store, locks, count);
            waiters.print("one lock", 1, i -> "many");
            waiters.print("a lock each", count, i -> "many/" + i);
            locks.close().block(LIMIT);
            Store.end(backend);
        }
        System.exit(0);
    }

    private void print(String what, int held, IntFunction<String> names) {
        List<LockLease> leases = Flux.range(0, held)
                .flatMap(i -> locks.lock(names.apply(i)).acquire(), held)
                .collectList()
                .block(LIMIT);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        long before = heap();
        Work start = work();
        Mono<Void> all = Flux.range(0, count)
                .flatMap(
                        i -> locks.lock(names.apply(i))
                                .with(PATIENT)
                                .withLock(lease -> Mono.fromRunnable(() -> order.add(i))),
                        count)
                .then()
                .cache();
        Disposable unused = all.subscribe();
        while (store.count("select count(*) from holdfast_waiter where place = 'q'") < count) {
            Mono.delay(Duration.ofMillis(100)).block();
        }
        Work queued = work();
        System.out.printf(
                "%s: %d queued, %s, %d connections, %d bytes of heap each%n",
                what, count, queued.since(start), store.clientConnections(), (heap() - before) / count);
        Work from = work();
        Flux.fromIterable(leases).flatMap(LockLease::release, held).blockLast(LIMIT);
        all.block(LIMIT);
        boolean isSorted = order.equals(order.stream().sorted().toList());
        Work served = work();
        System.out.printf(
                "%s: %d served%s, %s, %.0f hand-offs a second, %d connections%n",
                what,
                order.size(),
                held > 1 ? "" : isSorted ? " in order" : " OUT OF ORDER",
                served.since(from),
                count * 1e9 / (served.nanos() - from.nanos()),
                store.clientConnections());
    }

    /** The work so far. */
    private record Work(long nanos, long clientCpuNanos, int transactions) {

        String since(Work before) {
            return "%d ms, %d ms of the client's CPU, %d transactions"
                    .formatted(
                            (nanos - before.nanos) / 1_000_000,
                            (clientCpuNanos - before.clientCpuNanos) / 1_000_000,
                            transactions - before.transactions);
        }
    }

    private Work work() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        int transactions = store.count("select xact_commit from pg_stat_database where datname = current_database()");
        return new Work(System.nanoTime(), system.getProcessCpuTime(), transactions);
    }

    private static long heap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
