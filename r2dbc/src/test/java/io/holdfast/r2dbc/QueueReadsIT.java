package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Which rows the functions read of the queue of a lock: from the last served claim on, by the index. */
class QueueReadsIT {

    /** Runs one operation, for a client that listens or for a dead one. */
    private static final String FUNCTIONS = """
            create function one(p_verb text, p_id text, p_channel text default 'listening', p_attempt integer default 1) returns text language sql as $$
              select coalesce(string_agg(concat_ws(' ', answer, id), ', ' order by answer, id), '')
                from holdfast_call_v1(p_channel, 600000, false, array[p_verb], array['orders'], array['mutex'], array['mutex'], array[1], array[1],
                                      array[p_id], array[600000::bigint], array[p_attempt], array[true])
            $$;
            create function hand_on(p_times integer) returns bigint language plpgsql as $$
            declare
              v_before bigint := pg_stat_get_xact_tuples_returned('holdfast_waiter_queue'::regclass);
            begin
              for i in 1 .. p_times loop
                perform one('release', (select holder from holdfast_lock where name = 'orders'));
                perform one('queue', 'later ' || gen_random_uuid());
              end loop;
              return pg_stat_get_xact_tuples_returned('holdfast_waiter_queue'::regclass) - v_before;
            end $$;
            """;

    private static PostgresStore store;

    /** Its advisory lock shows the server that a client listens. */
    private static Connection listening;

    @BeforeAll
    static void start() {
        store = Store.start();
        store.execute(FUNCTIONS);
        listening = store.connect();
        Flux.from(listening
                        .createStatement("select pg_advisory_lock(hashtextextended('listening', 0))")
                        .execute())
                .concatMap(result -> result.map(row -> true))
                .blockLast(Store.PATIENCE);
    }

    @AfterAll
    static void stop() {
        Mono.from(listening.close()).block(Store.PATIENCE);
        store.close();
    }

    @AfterEach
    void empty() {
        store.execute("truncate holdfast_lock, holdfast_waiter, holdfast_gone restart identity");
    }

    @CanIgnoreReturnValue
    private static String one(String verb, String id) {
        return one(verb, id, "listening", 1);
    }

    @CanIgnoreReturnValue
    private static String one(String verb, String id, String channel, int attempt) {
        return store.texts("select one('%s', '%s', '%s', %d)".formatted(verb, id, channel, attempt))
                .get(0);
    }

    /** In one transaction, no row that it deletes is dead yet. That is as beside a transaction that was opened before. */
    @Test
    void handOffReadsNoEntriesOfServedClaims() {
        List<String> read = store.texts("""
                begin;
                select one('none', 'holder');
                select one('queue', 'first'), one('queue', 'second'), one('queue', 'third');
                select 'read ' || hand_on(20);
                select hand_on(500);
                select 'read ' || hand_on(20);
                rollback""");
        List<String> counts = read.stream().filter(it -> it.startsWith("read")).toList();
        assertThat(counts).hasSize(2);
        assertThat(counts.get(1)).isEqualTo(counts.get(0));
    }

    @Test
    void waitersKeepTheirOrderAfterTicketsHaveStartedAgain() {
        one("none", "holder");
        one("queue", "first");
        one("queue", "second");
        assertThat(one("release", "holder")).startsWith("granted first");
        assertThat(one("release", "first")).startsWith("granted second");
        store.execute("truncate holdfast_waiter restart identity"); // a crash does the same
        one("queue", "third");
        one("queue", "fourth");
        assertThat(one("release", "second")).startsWith("granted third");
        assertThat(one("release", "third")).startsWith("granted fourth");
        assertThat(one("release", "fourth")).isEqualTo("held");
    }

    @Test
    void claimThatComesBackFromAsideIsServedBeforeLaterClaims() {
        one("none", "holder");
        one("queue", "first", "gone", 1);
        one("queue", "second");
        one("queue", "third");
        assertThat(one("release", "holder")).startsWith("granted second");
        assertThat(one("queue", "first", "listening", 2)).isEqualTo("queued");
        assertThat(one("release", "second")).startsWith("granted first");
        assertThat(one("release", "first")).startsWith("granted third");
    }

    @Test
    void claimThatComesToTheSecondPlaceIsNotified() {
        one("none", "holder");
        one("queue", "first");
        one("queue", "second");
        one("queue", "third");
        one("queue", "fourth");
        assertThat(one("release", "holder")).isEqualTo("granted first, head third, held");
        assertThat(one("release", "second")).as("answer to a withdrawal").isEqualTo("head fourth, not_held");
        assertThat(one("release", "fourth")).as("answer without a claim behind").isEqualTo("not_held");
    }

    /** A client that connects while its table is empty plans its statements then, and keeps the plans. */
    @Test
    void queueThatGrowsAfterPlanningIsReadByItsIndex() {
        store.execute("vacuum holdfast_waiter");
        R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        handOff(locks);
        store.execute(
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel)"
                        + " select 'other', 'mutex', 'w' || n, 'queue', 'mutex', 1, 1, 600000, clock_timestamp(), 'gone' from generate_series(1, 1000) n");
        handOff(locks);
        locks.close().block(Store.PATIENCE);
        Store.end(backend);
        // A session of the server reports its counts when it ends.
        Store.eventually(() -> store.clientConnections() == 0 && read("n_tup_del") >= 20);
        assertThat(read("seq_tup_read")).isLessThan(1_000);
    }

    private static int read(String count) {
        return store.count("select " + count + " from pg_stat_user_tables where relname = 'holdfast_waiter'");
    }

    private static void handOff(LockClient locks) {
        Flux.range(0, 20)
                .flatMap(i -> locks.lock("orders").withLock(lease -> Mono.just(i)), 20)
                .blockLast(Duration.ofSeconds(20));
    }
}
