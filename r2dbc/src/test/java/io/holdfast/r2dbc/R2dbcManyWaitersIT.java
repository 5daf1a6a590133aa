package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Two thousand claims of one client wait, so that a build is short. {@link ManyWaiters} measures ten thousand. */
class R2dbcManyWaitersIT {

    private static final int COUNT = 2_000;
    /** The most rows of the table of waiters that are read for each waiter: a few in each of its calls. */
    private static final int MOST_READ = 40;

    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** Waiters send three attempts in a lease. On a slow machine, a waiter that sends none in time would lose its place. */
    private static final LockOptions PATIENT = LockOptions.builder()
            .leaseDuration(Duration.ofMinutes(10))
            .waitTimeout(LIMIT)
            .build();

    private static PostgresStore store;

    private final AtomicInteger served = new AtomicInteger();
    private R2dbcLockBackend backend;
    private LockClient locks;

    /** Records each grant of a mutex, in the transaction that grants it. */
    @BeforeAll
    static void start() {
        store = Store.start();
        store.execute("""
                create table granted (n bigint generated always as identity, id text);
                create function note_grant() returns trigger language plpgsql as $$
                begin
                  insert into granted (id) values (new.holder);
                  return null;
                end $$;
                create trigger note_grant after update of holder on holdfast_lock
                  for each row when (new.holder is not null) execute function note_grant()""");
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @BeforeEach
    void create() {
        backend = R2dbcLockBackend.builder(store.connections())
                .replyTimeout(Duration.ofSeconds(20))
                .claimTime(Duration.ofMinutes(1))
                .build();
        locks = LockClient.create(backend);
    }

    @AfterEach
    void nothingIsLeft() {
        locks.close().block(LIMIT);
        Store.end(backend);
        assertThat(store.leftovers()).isEmpty();
    }

    /** The rows that a statement reads do not grow with the queue, although the planner has no statistics of a queue that has just grown. */
    @AfterEach
    void noCallHasReadTheWholeQueue() {
        // A session of the server reports its counts when it ends.
        Store.eventually(() -> read("n_tup_del") >= COUNT);
        assertThat(read("idx_tup_fetch + seq_tup_read")).isLessThan(MOST_READ * read("n_tup_ins"));
    }

    private static long read(String counts) {
        return store.count("select " + counts + " from pg_stat_user_tables where relname = 'holdfast_waiter'");
    }

    @Test
    void manyWaitersOfOneLockAreServedInTheOrderOfTheQueueOnThreeConnections() {
        List<LockLease> held = hold(1, i -> "one");
        CompletableFuture<Void> all = wait(i -> "one");
        List<String> queue = store.texts("select id from holdfast_waiter order by ticket");
        store.execute("truncate granted");
        release(held, all);
        List<String> granted = store.texts("select id from granted order by n");
        int same = 0;
        while (same < COUNT && same < granted.size() && granted.get(same).equals(queue.get(same))) {
            same++;
        }
        assertThat(same).as("grants in the order of the queue").isEqualTo(COUNT);
    }

    @Test
    void waitersOfManyLocksAreServedOnThreeConnections() {
        List<LockLease> held = hold(COUNT, i -> "each/" + i);
        CompletableFuture<Void> all = wait(i -> "each/" + i);
        release(held, all);
    }

    private List<LockLease> hold(int count, IntFunction<String> names) {
        return Flux.range(0, count)
                .flatMap(i -> locks.lock(names.apply(i)).with(PATIENT).acquire(), count)
                .collectList()
                .block(LIMIT);
    }

    private CompletableFuture<Void> wait(IntFunction<String> names) {
        CompletableFuture<Void> all = Flux.range(0, COUNT)
                .flatMap(
                        i -> locks.lock(names.apply(i))
                                .with(PATIENT)
                                .withLock(lease -> Mono.fromRunnable(served::incrementAndGet)),
                        COUNT)
                .then()
                .toFuture();
        long end = System.nanoTime() + LIMIT.toNanos();
        while (store.count("select count(*) from holdfast_waiter where place = 'q'") < COUNT) {
            assertThat(System.nanoTime() - end).as("in time").isNegative();
            Mono.delay(Duration.ofMillis(100)).block();
        }
        assertThat(store.clientConnections()).isLessThanOrEqualTo(3);
        return all;
    }

    private void release(List<LockLease> held, CompletableFuture<Void> all) {
        Flux.fromIterable(held).flatMap(LockLease::release, held.size()).blockLast(LIMIT);
        assertThat(all).succeedsWithin(LIMIT);
        assertThat(served).hasValue(COUNT);
        assertThat(store.clientConnections()).isLessThanOrEqualTo(3);
    }
}
