package io.holdfast.proof.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.sim.SqlFunctions.Deed;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The functions of the simulated database against those of a real PostgreSQL, whose clock the test sets: the same random calls, with claims that come
 * late, fall silent, vanish and come back, must have the same answers and messages.
 */
class SqlFunctionsIT {

    private static final int CALLS = 1_000;
    private static final int CLAIM_MS = 200;
    private static final List<String> CHANNELS = List.of("one", "two", "three");

    private static PostgresServer server;

    /** What a claim sends. */
    private record Claim(String id, String name, String kind, String mode, int taken, String channel, long leaseMs) {}

    private Connection calls;
    private Connection listeners;
    private SplittableRandom random;
    private final List<Claim> claims = new ArrayList<>();
    private final Map<String, Integer> attempts = new HashMap<>();
    private final Set<String> alive = new HashSet<>(CHANNELS);
    private long micros = 1_700_000_000_000_000L;
    private int made;

    @BeforeAll
    static void start() {
        server = PostgresServer.run("fsync=off", "full_page_writes=off");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void modelAnswersAsTheDatabaseDoes(long seed) {
        random = new SplittableRandom(seed);
        calls = open("world" + seed);
        listeners = open("world" + seed);
        alive.forEach(it -> run(listeners, "select pg_advisory_lock(hashtextextended('" + it + "', 0))"));
        SqlFunctions model = new SqlFunctions(() -> micros, alive::contains, WrongSql.NONE);
        for (int i = 0; i < CALLS; i++) {
            micros += random.nextInt(4) == 0 ? random.nextLong(400_000) : random.nextLong(5_000);
            if (random.nextInt(40) == 0) {
                comesOrGoes(CHANNELS.get(random.nextInt(CHANNELS.size())));
            }
            String channel = CHANNELS.get(random.nextInt(CHANNELS.size()));
            List<Deed> deeds = deeds(channel);
            SqlTransaction transaction = new SqlTransaction();
            SqlFunctions.Call call = model.new Call(transaction, channel, CLAIM_MS, false);
            List<String> expected = new ArrayList<>();
            deeds.forEach(deed -> call.run(deed).forEach(it -> expected.add(text(it))));
            Runnable unused = transaction.commit();
            assertThat(real(channel, deeds))
                    .as("call %d of seed %d: %s", i, seed, deeds)
                    .containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    @AfterEach
    void close() {
        Flux.just(calls, listeners).concatMap(Connection::close).blockLast();
    }

    private static String text(Answer it) {
        return it.isPush()
                ? "0 %s %d %d %d %s %s"
                        .formatted(
                                it.word(),
                                it.token(),
                                it.millis(),
                                it.word().equals("granted") ? it.attempt() : 0,
                                it.channel(),
                                it.id())
                : "%d %s %d %d".formatted(it.number(), it.word(), it.token(), it.millis());
    }

    private void comesOrGoes(String channel) {
        boolean isAlive = !alive.remove(channel) && alive.add(channel);
        run(
                listeners,
                "select pg_advisory_%s(hashtextextended('%s', 0))".formatted(isAlive ? "lock" : "unlock", channel));
    }

    /** Draws a batch of one client, in the order of its locks. */
    private List<Deed> deeds(String channel) {
        List<Deed> deeds = new ArrayList<>();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
            List<Claim> its =
                    claims.stream().filter(it -> it.channel().equals(channel)).toList();
            Claim claim =
                    its.size() < 5 || random.nextInt(8) == 0 ? newClaim(channel) : its.get(random.nextInt(its.size()));
            deeds.add(deed(claim));
        }
        deeds.sort((one, other) -> one.lock().compareTo(other.lock()));
        return IntStream.range(0, deeds.size())
                .mapToObj(i -> deeds.get(i).withNumber(i + 1))
                .toList();
    }

    private Claim newClaim(String channel) {
        int lock = random.nextInt(5);
        Claim claim = new Claim(
                "claim" + made++,
                List.of("a", "b", "c", "a", "d").get(lock),
                List.of("mutex", "rw", "semaphore", "mutex", "mutex").get(lock),
                lock == 1 ? (random.nextBoolean() ? "read" : "write") : lock == 2 ? "semaphore" : "mutex",
                lock == 2 ? 1 + random.nextInt(2) : 1,
                channel,
                random.nextBoolean() ? 600 : 3_000);
        claims.add(claim);
        return claim;
    }

    private Deed deed(Claim claim) {
        int attempt = attempts.merge(claim.id(), 1, Integer::sum);
        int late = random.nextInt(6) == 0 ? Math.max(1, attempt - 1) : attempt;
        String verb = switch (random.nextInt(9)) {
            case 0 -> "none";
            case 1 -> "notify";
            case 2 -> "renew";
            case 3, 4 -> "release";
            default -> "queue";
        };
        boolean isDowngrade = claim.mode().equals("write") && random.nextInt(6) == 0;
        if (verb.equals("release")) {
            claims.remove(claim);
        }
        return new Deed(
                0,
                isDowngrade && verb.equals("queue") ? "none" : verb,
                claim.name(),
                claim.kind(),
                isDowngrade ? "read" : claim.mode(),
                3,
                claim.taken(),
                claim.id(),
                claim.leaseMs(),
                verb.equals("release") && random.nextInt(5) == 0 ? Integer.MAX_VALUE : late,
                random.nextInt(10) == 0 ? "" : claim.channel(),
                0);
    }

    private List<String> real(String channel, List<Deed> deeds) {
        run(calls, "select set_config('sim.us', '%d', false)".formatted(micros));
        Statement call = calls.createStatement(
                        "select unnest(string_to_array(holdfast_call_v1($1, $2, false, $3), chr(10)))")
                .bind("$1", channel)
                .bind("$2", CLAIM_MS)
                .bind("$3", deeds.stream().flatMap(SqlFunctionsIT::words).toArray(String[]::new));
        return Flux.<Result>from(call.execute())
                .concatMap(rows -> rows.map(row -> row.get(0, String.class)))
                .collectList()
                .block();
    }

    private static Stream<String> words(Deed it) {
        return Stream.of(
                        it.verb(),
                        it.name(),
                        it.kind(),
                        it.mode(),
                        it.permits(),
                        it.taken(),
                        it.id(),
                        it.leaseMs(),
                        it.attempt(),
                        !it.channel().isEmpty(),
                        it.token())
                .map(String::valueOf);
    }

    /** Opens a connection to a schema with the functions, whose clock is a setting of the session. */
    private static Connection open(String schema) {
        Connection open = Mono.<Connection>from(ConnectionFactories.get("r2dbc:postgresql://%s@%s:%d/%s"
                                .formatted(PostgresServer.USER, server.host(), server.port(), PostgresServer.DATABASE))
                        .create())
                .block();
        run(open, "create schema if not exists " + schema);
        run(open, "set search_path = %s, pg_catalog".formatted(schema));
        run(open, "set sim.us = '0'");
        if (run(open, "select to_regclass('holdfast_lock') is null").equals(List.of("true"))) {
            run(open, """
                    create function clock_timestamp() returns timestamptz language sql volatile as $$
                      select timestamptz 'epoch' + current_setting('sim.us')::bigint * interval '1 us' $$""");
            run(open, functions());
        }
        return open;
    }

    private static String functions() {
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream("postgresql/holdfast-1.sql")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> run(Connection connection, String sql) {
        return Flux.<Result>from(connection.createStatement(sql).execute())
                .concatMap(rows -> rows.map(row -> String.valueOf(row.get(0))))
                .collectList()
                .block();
    }
}
