package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs two instances of the job one after the other, each under the lock. */
@Timeout(60)
class NightlyJobTest {

    private static final Clock AT_THREE = Clock.fixed(Instant.parse("2026-03-01T03:00:00Z"), ZoneOffset.UTC);

    private final Vertx vertx = Vertx.vertx();
    private final LockClient client = LockClient.create(InMemoryLockBackend.create());
    private final JdbcConnectionPool database = Town.emptyDatabase();
    private final Accounts accounts = new Accounts(vertx, database, "test");
    private final AtomicInteger runs = new AtomicInteger();

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

    /** Shows why the lock alone is not enough: it is free when the second instance comes. */
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

    /** Wraps a book to signal the end of a run. */
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

    /** A book that lets each holder of the lock do the work. */
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
}
