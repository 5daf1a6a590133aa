package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Which rows the functions read of the queue of a lock: from the last served claim on, by the index. */
class QueueReadsIT {

    /** Runs one operation, for a client that listens or for a dead one. */
    private static final String FUNCTIONS = """
            create function one(p_verb text, p_id text, p_channel text default 'listening', p_attempt integer default 1) returns text language sql as $$
              select coalesce(string_agg(answer, ', ' order by answer), '')
                from (select concat_ws(' ', split_part(line, ' ', 2), nullif(substring(line from '^0(?: [^ ]+){5} (.*)$'), '')) as answer
                        from unnest(string_to_array(
                          holdfast_call_v1(p_channel, 600000, false, array[p_verb, 'orders', 'mutex', 'mutex', '1', '1', p_id, '600000', p_attempt::text, 'true', '0']),
                          chr(10))) line) answers
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
            create function read_entries() returns numeric language sql volatile as $$
              select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index where indrelid = 'holdfast_waiter'::regclass
            $$;
            create function blocks() returns bigint language sql volatile as $$
              select sum(pg_stat_get_xact_blocks_fetched(t)) from unnest(array['holdfast_lock', 'holdfast_lock_pkey']::regclass[]) as t
            $$;
            create function use(p_mode text, p_times integer) returns bigint language plpgsql as $$
            declare
              v_kind   text := case when p_mode in ('read', 'write') then 'rw' else p_mode end;
              v_before bigint := blocks();
              v_id     text;
            begin
              for i in 1 .. p_times loop
                v_id := 'user ' || gen_random_uuid();
                perform holdfast_call_v1('', 2000, false, array['none', 'orders', v_kind, p_mode, '1', '1', v_id, '30000', '1', 'false', '0',
                                                                'release', 'orders', v_kind, p_mode, '1', '1', v_id, '30000', '1', 'false', '0']);
              end loop;
              return blocks() - v_before;
            end $$;
            """;

    /** The settings of a client's sessions. */
    private static final String SETTINGS = """
            begin;
            set local plan_cache_mode = force_generic_plan;
            set local enable_seqscan = off;
            set local enable_bitmapscan = off;
            set local enable_sort = off;
            """;

    private static final String CALL_WITH_A_CLAIM_TIME = """
            select split_part(line, ' ', %1$d)
              from unnest(string_to_array(
                holdfast_call_v1('%3$s', %2$d, false, array['queue', 'orders', 'mutex', 'mutex', '1', '1', '%4$s', '600000', '%5$d', 'true', '0']),
                chr(10))) line where line like '1 %%'""";

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
        store.execute("truncate holdfast_lock, holdfast_waiter, holdfast_tombstone restart identity");
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
    void claimOfALivingClientDoesNotTakeAFreeLockBeforeAnOlderOneThatIsAside() {
        one("none", "holder");
        one("queue", "older");
        store.execute("update holdfast_waiter set place = 's' where id = 'older'");
        assertThat(one("release", "holder")).isEqualTo("held");
        assertThat(one("queue", "newer")).isEqualTo("granted older, queued");
        assertThat(one("release", "older")).startsWith("granted newer");
    }

    /** The server counts a client as listening that is dead, hangs, or is cut off. */
    @Test
    void claimsOfAClientThatConfirmsNoGrantAreSetAsideUntilItSendsAnAttempt() {
        one("none", "holder");
        one("queue", "silent 1");
        one("queue", "silent 2");
        one("queue", "silent 3");
        one("queue", "living", "other", 1);
        assertThat(one("release", "holder")).startsWith("granted silent 1");
        store.execute("update holdfast_lock set expires_at = clock_timestamp()");
        assertThat(store.texts(CALL_WITH_A_CLAIM_TIME.formatted(2, 1, "other", "living", 2)))
                .contains("acquired");
        assertThat(store.texts("select id from holdfast_waiter where place = 's' order by ticket"))
                .containsExactly("silent 2", "silent 3");
        assertThat(one("queue", "silent 1", "listening", 2)).isEqualTo("queued");
        assertThat(one("release", "living")).startsWith("granted silent 2");
    }

    /** Its listening connection opens when its first claim must wait, which takes some time. */
    @Test
    void clientThatDoesNotListenYetServesItsOwnWaitersInTheirOrder() {
        one("none", "holder", "fresh", 1);
        one("queue", "first", "fresh", 1);
        one("queue", "second", "fresh", 1);
        assertThat(one("release", "holder", "fresh", 1)).startsWith("granted first");
        assertThat(one("release", "first", "fresh", 1)).startsWith("granted second");
    }

    @Test
    void clientThatHasSentAnAttemptSinceTheGrantKeepsItsPlaces() {
        one("none", "holder");
        one("queue", "late 1");
        one("queue", "late 2");
        one("queue", "living", "other", 1);
        assertThat(one("release", "holder")).startsWith("granted late 1");
        one("queue", "late 2", "listening", 2);
        store.execute("update holdfast_lock set expires_at = clock_timestamp()");
        assertThat(one("queue", "living", "other", 2)).contains("granted late 2", "queued");
    }

    /** Those before it may all be of clients that are gone. */
    @Test
    void lastClaimOfALongQueueSendsAnAttemptInEachClaimTime() {
        one("none", "holder");
        for (int i = 1; i <= 5; i++) {
            one("queue", "waiter " + i);
        }
        assertThat(List.of(pause("waiter 2", 2), pause("waiter 5", 2))).allMatch(ms -> ms <= 2_000);
        assertThat(List.of(pause("waiter 3", 2), pause("waiter 4", 2))).allMatch(ms -> ms > 100_000);
        assertThat(one("release", "waiter 5")).isEqualTo("head waiter 4, not_held");
        assertThat(pause("waiter 4", 3)).isLessThanOrEqualTo(2_000);
    }

    /** Returns within which time the claim must send its next attempt, in ms, with a claim time of 2 s and a lease of 10 minutes. */
    private static int pause(String id, int attempt) {
        return store.count(CALL_WITH_A_CLAIM_TIME.formatted(4, 2_000, "listening", id, attempt));
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

    /** Two names may have one hash. */
    @Test
    void claimsOfAnotherLockWithTheSameHashAreLeftAlone() {
        String others = "select concat_ws(' ', id, place) from holdfast_waiter where name = 'other' order by 1";
        store.execute(
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                        + " select 'other', 'mutex', p, p::\"char\", 'mutex', 1, 1, 600000, clock_timestamp(), 'listening', hashtextextended('orders', 0)"
                        + " from unnest(array['q', 's', 'w']) p");
        List<String> before = store.texts(others);
        assertThat(one("none", "holder")).isEqualTo("acquired");
        assertThat(one("queue", "first", "gone", 1)).isEqualTo("queued");
        assertThat(one("queue", "second")).isEqualTo("queued");
        assertThat(one("release", "holder")).isEqualTo("granted second, held");
        assertThat(one("release", "second")).isEqualTo("held");
        assertThat(one("queue", "first", "listening", 2)).isEqualTo("acquired");
        assertThat(one("release", "first", "listening", 2)).isEqualTo("held");
        assertThat(one("none", "last")).isEqualTo("acquired");
        assertThat(one("queue", "third")).isEqualTo("queued");
        assertThat(pause("third", 2)).isEqualTo(2_000);
        assertThat(store.texts(others)).isEqualTo(before).hasSize(3);
    }

    @Test
    void claimThatIsSetAsideDoesNotCountAsTheSecondOne() {
        one("none", "holder");
        one("queue", "first");
        one("queue", "second");
        one("queue", "aside", "gone", 1);
        store.execute("update holdfast_waiter set place = 's' where id = 'aside'");
        assertThat(one("release", "holder")).isEqualTo("granted first, held");
        assertThat(one("release", "first")).isEqualTo("granted second, held");
        assertThat(one("release", "second")).isEqualTo("held");
    }

    /** The plans are made while nothing is aside, or with the statistics of the table as it is then. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void attemptReadsNoClaimsThatAreAsideOfOtherClients(boolean isPlannedBefore) {
        String analyze = "vacuum analyze holdfast_waiter";
        String aside =
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                        + " select 'orders', 'mutex', 'gone ' || n, 's', 'mutex', 1, 1, 600000, clock_timestamp(), 'gone', hashtextextended('orders', 0)"
                        + " from generate_series(1, 2000) n";
        one("none", "holder");
        store.execute(isPlannedBefore ? new String[] {analyze} : new String[] {aside, analyze});
        List<String> read =
                store.texts(SETTINGS + "select one('queue', 'planned'), one('queue', 'planned', p_attempt => 2);"
                        + (isPlannedBefore ? aside + ";" : "") + """
                select 'read ' || read_entries();
                select 'first ' || one('queue', 'living');
                select 'read ' || read_entries();
                select 'second ' || one('queue', 'living', p_attempt => 2);
                select 'read ' || read_entries();
                rollback""");
        assertThat(read).contains("first queued", "second queued");
        List<Integer> counts = read.stream()
                .filter(it -> it.startsWith("read"))
                .map(it -> Integer.parseInt(it.substring(5)))
                .toList();
        assertThat(List.of(counts.get(1) - counts.get(0), counts.get(2) - counts.get(1)))
                .as("entries read by the first and the second attempt")
                .allMatch(entries -> entries <= 20);
    }

    @Test
    void attemptOfAClaimThatWaitsAlreadyAddsNoSecondPlace() {
        one("none", "holder");
        one("queue", "first");
        one("queue", "first", "listening", 2);
        assertThat(store.texts("select attempt from holdfast_waiter")).containsExactly("2");
    }

    @Test
    void messageForAClaimWithoutAChannelIsLeftOut() {
        one("none", "holder");
        one("queue", "first");
        one("queue", "second");
        one("queue", "third", "", 1);
        assertThat(committed("other", "release", "holder")).containsExactly("1 held 0 0", "0 notified 0 0 0 - -");
    }

    @Test
    void answerHasTheMessagesForTheClientOfTheCall() {
        one("none", "holder");
        one("queue", "its first");
        one("queue", "second");
        one("queue", "its third");
        assertThat(committed("listening", "release", "holder"))
                .hasSize(3)
                .contains("1 held 0 0", "0 head 0 0 0 listening its third")
                .anyMatch(it -> it.matches("0 granted \\d+ \\d+ 1 listening its first"));
    }

    /** Calls the procedure as a client does, and returns the lines of its answer. */
    private static List<String> committed(String channel, String verb, String id) {
        return store.texts(
                        "call holdfast_commit_v1('%s', 600000, false, array['%s', 'orders', 'mutex', 'mutex', '1', '1', '%s', '600000', '1', 'true', '0'], null)"
                                .formatted(channel, verb, id))
                .get(0)
                .lines()
                .toList();
    }

    /** All other calls need not wait for the disk: if a crash undoes one, no client has a lock that it was told to have. */
    @ParameterizedTest
    @CsvSource({
        "none free 1, on",
        "queue waiter 1, off",
        "renew holder 1, on",
        "renew stranger 1, off",
        "release stranger 1, off",
        "release holder 1, on",
        "release holder 2147483647, on",
        "queue waiter 1 renew holder 1, on",
        "renew holder 1 queue waiter 1, on"
    })
    void callThatTellsAClientOfAHoldWaitsForTheDisk(String operations, String expected) {
        one("none", "holder");
        one("queue", "first");
        String calls = Stream.of(operations.split("(?<=\\d) "))
                .map(it -> it.split(" "))
                .map(it -> "'%1$s', '%4$s', 'mutex', 'mutex', '1', '1', '%2$s', '600000', '%3$s', 'true', '0'"
                        .formatted(it[0], it[1], it[2], it[1].equals("free") ? "unused" : "orders"))
                .collect(Collectors.joining(", "));
        assertThat(store.texts("begin; select holdfast_call_v1('listening', 2000, false, array[" + calls
                        + "]); select 'durable ' || current_setting('synchronous_commit'); rollback"))
                .contains("durable " + expected);
    }

    /** Names that were used once leave a table that the server has counted as empty. Then a client connects, and a long queue forms. */
    @Test
    void clientThatConnectsWhileTheQueueCountsAsEmptyReadsNoWholeQueue() {
        store.countWork();
        store.execute(
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                        + " select 'other', 'mutex', 'w' || n, 'q', 'mutex', 1, 1, 600000, clock_timestamp(), 'gone', 0 from generate_series(1, 3000) n",
                "delete from holdfast_waiter",
                "vacuum analyze holdfast_waiter");
        for (String[] kind : new String[][] {{"rw", "write"}, {"mutex", "mutex"}}) {
            store.execute(
                    "insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_at)"
                            + " values ('orders', '%s', 0, 0, 'holder', 1, clock_timestamp() + interval '1 minute')"
                                    .formatted(kind[0]),
                    "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                            + " select 'orders', '%s', 'w' || n, 'q', '%s', 1, 1, 600000, clock_timestamp(), 'listening', hashtextextended('orders', 0) from generate_series(1, 300) n"
                                    .formatted(kind[0], kind[1]));
            LockInspector inspector =
                    R2dbcLockBackend.builder(store.connections()).inspector();
            long before = store.work();
            inspector
                    .inspect("orders")
                    .flatMap(report ->
                            inspector.breakHold("orders", report.holders().get(0)))
                    .blockLast(Store.PATIENCE);
            assertThat(store.work() - before)
                    .as("work for the lock of kind " + kind[0])
                    .isBetween(5L, 40L);
            store.execute("delete from holdfast_lock", "delete from holdfast_waiter");
        }
    }

    @Test
    void renewalOfReadersReadsNoRowsOfOtherReaders() {
        store.execute("""
                select count(*) from (
                  select string_agg('none,orders,rw,read,1,1,reader ' || n || ',600000,1,false,0', ',') calls from generate_series(1, 1000) n) all_of,
                  holdfast_call_v1('', 2000, false, string_to_array(calls, ','))""");
        List<String> read = store.texts(SETTINGS + """
                select 'renewed ' || count(*)
                  from (select array_agg('orders'::text) names, array_agg('rw'::text) kinds, array_agg('reader ' || n) ids, array_agg(30000::bigint) leases
                          from generate_series(401, 600) n) all_of, holdfast_renew_v1(false, names, kinds, ids, leases) where answer = 'held';
                select 'read ' || sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index where indrelid = 'holdfast_lock'::regclass;
                rollback""");
        assertThat(read).contains("renewed 200");
        assertThat(read)
                .filteredOn(it -> it.startsWith("read"))
                .singleElement()
                .satisfies(it -> assertThat(Integer.parseInt(it.substring(5))).isLessThanOrEqualTo(2 * 200));
    }

    /** In one transaction, no version of a row is dead yet. That is as beside a transaction that was opened before. */
    @ParameterizedTest
    @ValueSource(strings = {"mutex", "write", "read", "semaphore"})
    void cyclesReadNoOldVersionsOfTheRows(String mode) {
        List<String> read = store.texts(SETTINGS + """
                select use('%1$s', 50);
                select 'read ' || use('%1$s', 20);
                select use('%1$s', 500);
                select 'read ' || use('%1$s', 20);
                rollback""".formatted(mode));
        List<Integer> blocks = read.stream()
                .filter(it -> it.startsWith("read"))
                .map(it -> Integer.parseInt(it.substring(5)))
                .toList();
        assertThat(blocks).hasSize(2);
        assertThat(blocks.get(1)).isLessThanOrEqualTo(blocks.get(0) * 3 / 2);
    }

    /** A client that connects while its table is empty plans its statements then, and keeps the plans. */
    @Test
    void queueThatGrowsAfterPlanningIsReadByItsIndex() {
        store.execute("vacuum holdfast_waiter");
        R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(backend);
        handOff(locks);
        store.execute(
                "insert into holdfast_waiter (name, kind, id, place, mode, permits, attempt, lease_ms, looked_at, channel, hash)"
                        + " select 'other', 'mutex', 'w' || n, 'q', 'mutex', 1, 1, 600000, clock_timestamp(), 'gone', 0 from generate_series(1, 1000) n");
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
