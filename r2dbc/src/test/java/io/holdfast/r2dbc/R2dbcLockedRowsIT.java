package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Another transaction has locked rows of the locks, by mistake or by hand. It delays only calls that need these rows. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcLockedRowsIT {

    private static final Duration LONG = Duration.ofSeconds(30);

    private Store store;

    private final String name = "locked/" + UUID.randomUUID();
    private R2dbcLockBackend backend;
    private Connection locker;

    /** Creates the database; PostgreSQL in this class. */
    Store newStore() {
        return Store.start();
    }

    @BeforeAll
    void start() {
        store = newStore();
    }

    @AfterAll
    void stop() {
        if (store != null) {
            store.close();
        }
    }

    @BeforeEach
    void create() {
        backend = R2dbcLockBackend.builder(store.connections())
                .replyTimeout(Duration.ofSeconds(4))
                .build();
        locker = store.connect();
        run(locker.beginTransaction(IsolationLevel.READ_COMMITTED));
    }

    @AfterEach
    void nothingIsLeft() {
        run(locker.close());
        Store.end(backend);
        assertThat(store.leftovers()).isEmpty();
    }

    /** Readers and permits have rows of their own. */
    @Test
    void lockedRowOfAPermitDelaysNoOtherLock() {
        LockClaim permit = claim(LockKey.of(LockKind.READ, name));
        run(backend.tryAcquire(permit));
        lock("name = '%s' and slot > 0".formatted(name));

        CompletableFuture<Ownership> release = backend.release(permit).toFuture();
        LockClaim other = claim(LockKey.of(LockKind.MUTEX, name));
        assertThat(run(backend.tryAcquire(other))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(release).as("the release, which waits").isNotDone();
        run(backend.release(other));
        run(locker.rollbackTransaction());
        assertThat(release).succeedsWithin(Store.PATIENCE).isEqualTo(Ownership.HELD);
    }

    /** The first try of the adoption is answered as busy. The second one waits, and sees the row as the transaction has left it. */
    @Test
    void adoptionWaitsForALockedRowAndComparesTheTokenThen() {
        LockClaim one = claim(LockKey.of(LockKind.MUTEX, name));
        long token = ((LockAttempt.Acquired) run(backend.tryAcquire(one))).fencingToken();
        lock("name = '%s'".formatted(name));
        CompletableFuture<Renewal> adoption = backend.adopt(one, token).toFuture();
        Store.eventually(store::hasBlockedCall);
        run(locker.rollbackTransaction());
        assertThat(adoption).succeedsWithin(Store.PATIENCE).isInstanceOf(Renewal.Held.class);

        run(locker.beginTransaction(IsolationLevel.READ_COMMITTED));
        run(Flux.from(locker.createStatement(
                                "update holdfast_lock set token = token + 4 where name = '%s'".formatted(name))
                        .execute())
                .concatMap(Result::getRowsUpdated)
                .then());
        CompletableFuture<Renewal> late = backend.adopt(one, token).toFuture();
        Store.eventually(store::hasBlockedCall);
        run(locker.commitTransaction());
        assertThat(late).succeedsWithin(Store.PATIENCE).isEqualTo(new Renewal.NotHeld());
        run(backend.release(one));
    }

    /** Calls wait for two locked rows. The call for the row that stays locked fails, and the other one does not. */
    @Test
    void rowThatStaysLockedFailsNoCallThatWaitedForAnother() {
        LockClaim one = claim(LockKey.of(LockKind.MUTEX, name + "/1"));
        LockClaim two = claim(LockKey.of(LockKind.MUTEX, name + "/2"));
        run(backend.tryAcquire(one));
        run(backend.tryAcquire(two));
        lock("name = '%s/1'".formatted(name));
        Connection brief = store.connect();
        run(brief.beginTransaction(IsolationLevel.READ_COMMITTED));
        lock(brief, "name = '%s/2'".formatted(name));

        CompletableFuture<List<Renewal>> both =
                backend.renewAll(List.of(one, two)).collectList().toFuture();
        Store.eventually(store::hasBlockedCall);
        run(brief.rollbackTransaction());
        run(brief.close());
        assertThat(both)
                .succeedsWithin(Store.PATIENCE)
                .asInstanceOf(InstanceOfAssertFactories.list(Renewal.class))
                .satisfiesExactly(
                        first -> assertThat(first).isInstanceOf(Renewal.Unknown.class),
                        second -> assertThat(second).isInstanceOf(Renewal.Held.class));
        run(locker.rollbackTransaction());
        run(backend.release(one));
        run(backend.release(two));
    }

    /** With the defaults of client and back end, the server gives up before they do. */
    @Test
    void errorOfAnAcquisitionNamesTheLockedRowByDefault() {
        R2dbcLockBackend usual = R2dbcLockBackend.create(store.connections());
        LockClient locks = LockClient.create(usual);
        run(locks.lock(name).withLock(lease -> Mono.just(1)));
        lock("name = '%s'".formatted(name));
        assertThatThrownBy(() -> run(locks.lock(name).tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining(store.lockedRowAdvice());
        run(locker.rollbackTransaction());
        run(locks.close());
        Store.end(usual);
    }

    /** One row stays locked. Renewals and attempts of another lock that is contended, too, do not wait as long as calls for that row. */
    @Test
    void callsForAnotherContendedRowDoNotWaitForTheLockedOne() {
        LockClaim one = claim(LockKey.of(LockKind.MUTEX, name + "/1"));
        LockClaim two = claim(LockKey.of(LockKind.MUTEX, name + "/2"));
        run(backend.tryAcquire(one));
        run(backend.tryAcquire(two));
        lock("name = '%s/1'".formatted(name));
        CompletableFuture<Renewal> first = backend.renew(one).toFuture();
        Store.eventually(store::hasBlockedCall);
        Connection brief = store.connect();
        run(brief.beginTransaction(IsolationLevel.READ_COMMITTED));
        lock(brief, "name = '%s/2'".formatted(name));
        CompletableFuture<Renewal> second = backend.renew(two).toFuture();
        run(Mono.delay(Duration.ofMillis(100)));
        run(brief.rollbackTransaction());
        run(brief.close());
        assertThat(second).succeedsWithin(Store.PATIENCE).isInstanceOf(Renewal.Held.class);
        assertThat(first).as("the call for the row that is locked").isNotDone();
        run(locker.rollbackTransaction());
        assertThat(first).succeedsWithin(Store.PATIENCE).isInstanceOf(Renewal.Held.class);
        run(backend.release(one));
        run(backend.release(two));
    }

    /** The row of a lock was added, and not committed: the attempt for that lock waits until it is. */
    @Test
    void rowThatIsNotCommittedDelaysNoOtherLock() {
        String added = name + "/new";
        boolean isPostgres = store.product().equals("PostgreSQL");
        run(Flux.from(locker.createStatement(
                                "insert into holdfast_lock (name, kind, slot, token, attempt, %s) values ('%s', 'mutex', 0, 0, 0, %s)"
                                        .formatted(
                                                isPostgres ? "expires_at" : "expires_us",
                                                added,
                                                isPostgres ? "'-infinity'" : "0"))
                        .execute())
                .concatMap(Result::getRowsUpdated)
                .then());
        LockClaim claim = claim(LockKey.of(LockKind.MUTEX, added));
        LockClaim other = claim(LockKey.of(LockKind.MUTEX, added + "/2"));
        run(backend.ping());
        CompletableFuture<LockAttempt> waits = backend.tryAcquire(claim).toFuture();
        Store.eventually(store::hasBlockedCall); // both together would be one call
        assertThat(run(backend.tryAcquire(other))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(waits).as("the attempt for the row").isNotDone();
        run(locker.rollbackTransaction());
        assertThat(waits).succeedsWithin(Store.PATIENCE).isInstanceOf(LockAttempt.Acquired.class);
        run(backend.release(claim));
        run(backend.release(other));
    }

    /** The first attempt finds the row locked, and waits behind another lock. The later ones find the row free. */
    @Test
    void laterAttemptsDoNotPassAnAttemptThatWaitsForTheRow() {
        R2dbcLockBackend holder = R2dbcLockBackend.create(store.connections());
        LockClaim held = claim(LockKey.of(LockKind.MUTEX, name));
        LockClaim blocking = claim(LockKey.of(LockKind.MUTEX, name + "/2"));
        run(holder.tryAcquire(held));
        run(holder.tryAcquire(blocking));
        lock("name = '%s/2'".formatted(name));
        CompletableFuture<LockAttempt> blocked =
                backend.tryAcquire(claim(blocking.key())).toFuture();
        Store.eventually(store::hasBlockedCall);
        Connection brief = store.connect();
        run(brief.beginTransaction(IsolationLevel.READ_COMMITTED));
        lock(brief, "name = '%s'".formatted(name));

        List<LockClaim> claims = IntStream.range(0, 4)
                .mapToObj(i -> LockClaim.first(held.key(), "%d-%s".formatted(i, name), LONG, Waiting.QUEUE))
                .toList();
        CompletableFuture<LockAttempt> first = backend.tryAcquire(claims.get(0)).toFuture();
        run(backend.ping()); // the attempt is with the patient connection now
        run(brief.rollbackTransaction());
        run(brief.close());
        List<CompletableFuture<LockAttempt>> later = claims.stream()
                .skip(1)
                .map(it -> backend.tryAcquire(it).toFuture())
                .toList();
        run(backend.ping());
        run(locker.rollbackTransaction());
        assertThat(blocked).succeedsWithin(Store.PATIENCE);
        assertThat(first).succeedsWithin(Store.PATIENCE);
        later.forEach(it -> assertThat(it).succeedsWithin(Store.PATIENCE));
        assertThat(store.texts("select substring(id, 1, 1) from holdfast_waiter order by ticket"))
                .containsExactly("0", "1", "2", "3");
        claims.forEach(it -> run(backend.release(it)));
        run(holder.release(held));
        run(holder.release(blocking));
        Store.end(holder);
    }

    private void lock(String condition) {
        lock(locker, condition);
    }

    private static void lock(Connection by, String condition) {
        run(Flux.from(by.createStatement("select 1 from holdfast_lock where " + condition + " for update")
                        .execute())
                .concatMap(result -> result.map(row -> 1))
                .collectList());
    }

    private static LockClaim claim(LockKey key) {
        return LockClaim.first(key, UUID.randomUUID().toString(), LONG, Waiting.NONE);
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
