package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.LockClient;
import io.holdfast.vertx.VertxLocks;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two instances of the job one after the other, each under the lock. */
@Timeout(60)
class NightlyJobTest {

    private static final Clock AT_THREE = Clock.fixed(Instant.parse("2026-03-01T03:00:00Z"), ZoneOffset.UTC);

    private final Vertx vertx = Vertx.vertx();
    private final LockClient client = LockClient.create(InMemoryLockBackend.create());
    private final JdbcConnectionPool database = JdbcConnectionPool.create("jdbc:h2:mem:", "sa", "");
    private final AtomicInteger runs = new AtomicInteger();
    private Accounts accounts;

    @BeforeEach
    void open() throws Exception {
        database.setMaxConnections(1); // each connection without a name is a database of its own
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(Town.schema());
        }
        accounts = new Accounts(vertx, database, "test");
    }

    @AfterEach
    void close() {
        Town.done(vertx.close());
        Town.done(client.close().toFuture());
        database.dispose();
    }

    @Test
    void withTheBookTheSecondInstanceFindsTheNightDone() {
        runOneAfterTheOther(accounts);
        assertThat(runs).hasValue(1);
    }

    /** Why the lock alone is not enough: it was free when the second one came. */
    @Test
    void withoutTheBookTheLockLetsTheNightBeDoneTwice() {
        runOneAfterTheOther(new Forgetful());
        assertThat(runs).hasValue(2);
    }

    private void runOneAfterTheOther(NightBook book) {
        for (int instance = 0; instance < 2; instance++) {
            CompletableFuture<Boolean> isDone = new CompletableFuture<>();
            Town.done(vertx.deployVerticle(new NightlyJob(
                    VertxLocks.of(client, vertx),
                    telling(book, isDone),
                    this::work,
                    new Nights(LocalTime.of(2, 0)),
                    AT_THREE)));
            Town.done(isDone);
        }
    }

    private Future<List<Statement>> work() {
        runs.incrementAndGet();
        return Future.succeededFuture(List.of());
    }

    /** Says when a run is over. */
    private static NightBook telling(NightBook book, CompletableFuture<Boolean> isDone) {
        return new NightBook() {
            @Override
            public Future<Boolean> begin(LocalDate night, long token) {
                return book.begin(night, token).onSuccess(isOurs -> {
                    if (!isOurs) {
                        isDone.complete(false);
                    }
                });
            }

            @Override
            public Future<Boolean> finish(LocalDate night, long token, List<Statement> statements) {
                return book.finish(night, token, statements).onSuccess(isDone::complete);
            }
        };
    }

    /** Lets everybody work who holds the lock. */
    private static final class Forgetful implements NightBook {

        @Override
        public Future<Boolean> begin(LocalDate night, long token) {
            return Future.succeededFuture(true);
        }

        @Override
        public Future<Boolean> finish(LocalDate night, long token, List<Statement> statements) {
            return Future.succeededFuture(true);
        }
    }

    private static final LocalDate NIGHT = LocalDate.of(2026, 3, 1);

    @Test
    void aNightThatIsDoneIsNotBegunAgainWhateverTheToken() {
        assertThat(Town.done(accounts.begin(NIGHT, 7))).isTrue();
        assertThat(Town.done(accounts.finish(NIGHT, 7, List.of(new Statement("1", 5, 95)))))
                .isTrue();
        assertThat(Town.done(accounts.begin(NIGHT, 8))).isFalse();
        assertThat(Town.done(accounts.begin(NIGHT.minusDays(1), 9))).isFalse();
        assertThat(Town.done(accounts.begin(NIGHT.plusDays(1), 9))).isTrue();
    }

    @Test
    void aFormerOwnerNeitherBeginsNorFinishes() {
        assertThat(Town.done(accounts.begin(NIGHT, 7))).isTrue();
        assertThat(Town.done(accounts.begin(NIGHT, 8))).as("took over").isTrue();
        assertThat(Town.done(accounts.begin(NIGHT, 7)))
                .as("the former one, again")
                .isFalse();
        assertThat(Town.done(accounts.finish(NIGHT, 7, List.of())))
                .as("woke up late")
                .isFalse();
        assertThat(Town.done(accounts.finish(NIGHT, 8, List.of()))).isTrue();
    }

    @Test
    void aChargeOfAFormerOwnerIsRefused() throws Exception {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("insert into customer values ('1', 0, 0)");
        }
        Town.done(accounts.write(new Charge("1", 8, 5, 5)));
        assertThat(accounts.write(new Charge("1", 7, 5, 5)).toCompletionStage().toCompletableFuture())
                .failsWithin(Town.PATIENCE)
                .withThrowableThat()
                .withCauseInstanceOf(Refusal.class);
        assertThat(Town.done(accounts.balanceOf("1"))).isEqualTo(5);
    }
}
