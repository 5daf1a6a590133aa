package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lease is checked in the transaction of the data. The holders in these tests pause for longer than their leases, and are never notified. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FenceIT {

    private static final LockOptions SHORT = LockOptions.builder()
            .leaseDuration(Duration.ofMillis(100))
            .autoRenew(false)
            .waitTimeout(Duration.ofSeconds(10))
            .build();

    private static final LockOptions ONE_LOOK = SHORT.toBuilder()
            .leaseDuration(Duration.ofSeconds(30))
            .waitTimeout(Duration.ZERO)
            .build();

    private static final LockOptions PATIENT =
            ONE_LOOK.toBuilder().waitTimeout(Duration.ofSeconds(10)).build();

    /** Ends soon, and not before its first check on a busy machine. */
    private static final LockOptions CHECKED =
            SHORT.toBuilder().leaseDuration(Duration.ofSeconds(1)).build();

    private static final Duration SOON = CHECKED.leaseDuration();

    Store store;
    private R2dbcLockBackend backend;
    private LockClient locks;

    private String name;
    private Connection data;

    /** Creates the database; PostgreSQL in this class. */
    Store newStore() {
        return Store.withSettings("max_prepared_transactions=5");
    }

    List<String> isolations() {
        return List.of("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE");
    }

    /** Returns the lease duration of the writers, which pause for up to three times this. It must be several round trips. */
    Duration tinyLease() {
        return Duration.ofMillis(30);
    }

    /** Returns how often each writer tries. */
    int rounds() {
        return 15;
    }

    /** Returns the name of the database, as the driver names it. */
    String sql() {
        return Fence.sql("PostgreSQL");
    }

    @BeforeAll
    void start() {
        store = newStore();
        store.execute("create table stock (item varchar(100) primary key, amount integer not null)");
        backend = R2dbcLockBackend.create(store.connections());
        locks = LockClient.create(backend);
    }

    @AfterAll
    void stop() {
        if (store != null) {
            locks.close().block(Store.PATIENCE);
            Store.end(backend);
            store.close();
        }
    }

    @BeforeEach
    void open() {
        name = "fence/" + UUID.randomUUID();
        data = store.connect();
        store.execute("insert into stock values ('%s', 10)".formatted(name));
    }

    @AfterEach
    void close() {
        run(Mono.from(data.close()));
    }

    @Test
    void currentLeasePasses() {
        LockLease lease = acquire(ONE_LOOK);
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, lease));
        run(data.commitTransaction());
        run(lease.release());
    }

    @Test
    void releasedLeaseFails() {
        LockLease lease = acquire(ONE_LOOK);
        run(lease.release());
        begin(IsolationLevel.READ_COMMITTED);
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining(name);
    }

    @Test
    void checkWithoutATransactionIsRefused() {
        LockLease lease = acquire(ONE_LOOK);
        assertThatThrownBy(() -> run(Fence.check(data, lease)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no transaction is open");
        run(lease.release());
    }

    /** The transaction of the paused holder may have begun, and read, before the later grant. */
    @ParameterizedTest
    @MethodSource("isolations")
    void pausedHolderFailsAfterALaterGrant(String isolation) {
        LockLease paused = acquire(SHORT);
        begin(IsolationLevel.valueOf(isolation));
        int before = amount(data);
        LockLease next = acquire(PATIENT);
        store.execute("update stock set amount = 5 where item = '%s'".formatted(name));

        assertThatThrownBy(() -> run(Fence.check(data, paused).then(write(data, before - 1))))
                .isInstanceOf(LockLostException.class);
        run(data.rollbackTransaction());
        assertThat(stored()).isEqualTo(5);
        run(next.release());
    }

    /** The later grant was made and released. The row has no holder again, or it has the holder's own next token. */
    @ParameterizedTest
    @MethodSource("isolations")
    void pausedHolderFailsAfterALaterGrantThatHasEnded(String isolation) {
        LockLease paused = acquire(SHORT);
        begin(IsolationLevel.valueOf(isolation));
        int before = amount(data);
        run(acquire(PATIENT).release());
        LockLease again = acquire(ONE_LOOK);

        assertThatThrownBy(() -> run(Fence.check(data, paused).then(write(data, before - 1))))
                .isInstanceOf(LockLostException.class);
        run(data.rollbackTransaction());
        run(again.release());
    }

    @ParameterizedTest
    @MethodSource("isolations")
    void noClaimIsGrantedTheLockBetweenCheckAndCommit(String isolation) {
        LockLease paused = acquire(CHECKED);
        begin(IsolationLevel.valueOf(isolation));
        run(Fence.check(data, paused));
        int before = amount(data);
        run(Mono.delay(SOON.plusMillis(50)));
        assertThat(paused.isValid()).isFalse();
        assertThat(tryOnce())
                .as("the next grant while the fenced transaction was open")
                .isNull();

        Mono<LockLease> waiting = locks.lock(name).with(PATIENT).acquire().cache();
        var unused = waiting.subscribe();
        run(write(data, before - 1));
        run(data.commitTransaction());
        LockLease next = run(waiting);
        assertThat(stored()).isEqualTo(before - 1);
        assertThat(next.fencingToken()).isGreaterThan(paused.fencingToken());
        run(next.release());
    }

    /** The lease is valid. The caller may repeat the transaction. */
    @Test
    void conflictThatIsNotOfTheLeaseIsNotItsLoss() {
        LockLease lease = acquire(ONE_LOOK);
        conflict(data, name, lease.fencingToken());
        assertThatThrownBy(() -> run(Fence.check(data, lease))).isInstanceOf(R2dbcException.class);
        run(data.rollbackTransaction());
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, lease));
        run(data.commitTransaction());
        run(lease.release());
    }

    /** Begins a transaction, and commits another one that it conflicts with: here, each reads what the other one writes. */
    void conflict(Connection one, String item, long token) {
        run(one.beginTransaction(IsolationLevel.SERIALIZABLE));
        Connection other = store.connect();
        run(other.beginTransaction(IsolationLevel.SERIALIZABLE));
        for (Connection reader : List.of(one, other)) {
            run(statement(reader, "select sum(amount) from stock"));
        }
        run(statement(one, "update stock set amount = 1 where item = '%s'".formatted(item)));
        run(statement(other, "insert into stock values ('%s/2', 1)".formatted(item)));
        run(other.commitTransaction());
        run(other.close());
    }

    /** Two transactions of one lease lock two rows of data in opposite orders, and check in between. The lease has nothing to do with that. */
    @Test
    void deadlockOfTwoCheckedTransactionsIsNotALossAndTheOneThatIsUndoneCanBeRepeated() {
        store.execute("insert into stock values ('%s/2', 10)".formatted(name));
        LockLease lease = acquire(ONE_LOOK);
        Connection other = store.connect();
        updateAndCheck(data, name, lease);
        updateAndCheck(other, name + "/2", lease);
        CompletableFuture<Void> first = update(data, name + "/2").toFuture();
        Store.eventually(store::hasBlockedCall);
        CompletableFuture<Void> second = update(other, name).toFuture();

        assertThat(CompletableFuture.allOf(first, second))
                .failsWithin(Store.PATIENCE)
                .withThrowableThat()
                .havingCause()
                .satisfies(FenceIT::isDeadlock);
        Connection undone = first.isCompletedExceptionally() ? data : other;
        Connection left = first.isCompletedExceptionally() ? other : data;
        run(undone.rollbackTransaction());
        run(left.commitTransaction());
        updateAndCheck(undone, name, lease);
        run(update(undone, name + "/2"));
        run(undone.commitTransaction());
        assertThat(store.texts("select amount from stock where item like '%s%%'".formatted(name)))
                .containsExactly("8", "8");
        run(lease.release());
        run(tryOnce().release());
        run(other.close());
    }

    private static void updateAndCheck(Connection in, String item, LockLease lease) {
        run(Mono.from(in.setTransactionIsolationLevel(IsolationLevel.READ_COMMITTED))
                .then(Mono.defer(() -> Mono.from(in.beginTransaction()))));
        run(update(in, item));
        run(Fence.check(in, lease));
    }

    private static Mono<Void> update(Connection in, String item) {
        return statement(in, "update stock set amount = amount - 1 where item = '%s'".formatted(item));
    }

    private static void isDeadlock(Throwable error) {
        assertThat(error)
                .isInstanceOfSatisfying(
                        R2dbcException.class,
                        it -> assertThat(it.getSqlState() + " " + it.getErrorCode())
                                .as(it.getMessage())
                                .isIn("40P01 0", "40001 1213"));
    }

    /** Another transaction has locked the row of the check, and waits for a row of data that this one has locked. */
    @Test
    void checkThatADeadlockUndoesIsNotALoss() {
        LockLease lease = acquire(ONE_LOOK);
        Connection other = store.connect();
        run(other.beginTransaction());
        lockTheRowOfTheCheck(other, lease);
        begin(IsolationLevel.READ_COMMITTED);
        run(update(data, name));
        CompletableFuture<Void> waiting = update(other, name).toFuture();
        Store.eventually(store::hasBlockedCall);
        assertThatThrownBy(() -> run(Fence.check(data, lease))).satisfies(FenceIT::isDeadlock);
        run(data.rollbackTransaction());
        assertThat(waiting).succeedsWithin(Store.PATIENCE);
        run(other.commitTransaction());
        run(other.close());
        updateAndCheck(data, name, lease);
        run(data.commitTransaction());
        assertThat(stored()).isEqualTo(8);
        run(lease.release());
    }

    /** Locks it so that a check waits, in a transaction that the server does not undo in a deadlock: here, an operator does so by hand. */
    void lockTheRowOfTheCheck(Connection in, LockLease lease) {
        run(statement(in, "set local deadlock_timeout = '20 s'"));
        run(statement(in, "select 1 from holdfast_lock where name = '%s' for update".formatted(lease.lockName())));
    }

    /**
     * The lease was released before the commit, which is a mistake. The first waiter asks ten times a second, and all others as seldom as
     * behind a lease. No attempt waits for the fenced transaction, nor does that one wait for them.
     */
    @Test
    void waitersBesideAnOpenFenceSendFewAttemptsAndBlockNothing() {
        store.countWork();
        LockLease lease = acquire(ONE_LOOK);
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, lease));
        run(lease.release());
        List<CompletableFuture<LockLease>> waiters = IntStream.range(0, 50)
                .mapToObj(i -> locks.lock(name).with(PATIENT).acquire().toFuture())
                .toList();
        // Each was the last one for a moment, and so has to send a second attempt soon.
        Store.eventually(() -> store.count("select count(*) from holdfast_waiter where attempt > 1") >= 49);

        long attempts = attempts();
        long work = store.work();
        long begun = System.nanoTime();
        for (int i = 0; i < 30; i++) {
            assertThat(store.hasBlockedCall()).isFalse();
            run(Mono.delay(Duration.ofMillis(100)));
        }
        attempts = attempts() - attempts;
        double seconds = (System.nanoTime() - begun) / 1e9;
        // The second and the last one send an attempt in each claim time.
        assertThat((double) attempts).as("attempts").isBetween(1.0, 10 * seconds + 2 * (1 + seconds / 2));
        assertThat(store.work() - work).as("calls and rows").isLessThanOrEqualTo(30 * (attempts + 1));

        run(write(data, 9));
        run(data.commitTransaction());
        assertThat(stored()).isEqualTo(9);
        Store.eventually(() -> waiters.stream().anyMatch(CompletableFuture::isDone));
        waiters.forEach(it -> it.cancel(true));
        waiters.stream()
                .filter(it -> !it.isCancelled())
                .forEach(it -> run(it.join().release()));
        Store.eventually(() -> store.leftovers().isEmpty());
    }

    private long attempts() {
        return store.count("select sum(attempt) from holdfast_waiter where name = '%s'".formatted(name));
    }

    /** The grant is still the same. */
    @ParameterizedTest
    @MethodSource("isolations")
    void renewalsPassTheFenceAndDoNotBreakIt(String isolation) {
        LockLease lease = acquire(ONE_LOOK);
        begin(IsolationLevel.valueOf(isolation));
        int before = amount(data);
        run(lease.renew());
        run(Fence.check(data, lease));
        run(lease.renew());
        run(write(data, before - 1));
        run(data.commitTransaction());
        assertThat(stored()).isEqualTo(9);
        run(lease.release());
    }

    /** The fence also protects the released row. A release before the commit is a mistake that costs time, but no update. */
    @Test
    void releaseBeforeTheCommitKeepsTheNextHolderWaiting() {
        LockLease lease = acquire(ONE_LOOK);
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, lease));
        run(lease.release());
        assertThat(tryOnce()).isNull();
        run(data.commitTransaction());
        run(tryOnce().release());
    }

    @Test
    void fencedReaderDelaysWritersButNoReaders() {
        LockLease reader =
                run(locks.readWriteLock(name).readLock().with(CHECKED).acquire());
        begin(IsolationLevel.REPEATABLE_READ);
        run(Fence.check(data, reader));
        run(Mono.delay(SOON.plusMillis(50)));

        assertThat(run(locks.readWriteLock(name).writeLock().with(ONE_LOOK).tryAcquire()))
                .isNull();
        run(run(locks.readWriteLock(name).readLock().with(ONE_LOOK).tryAcquire())
                .release());
        run(data.commitTransaction());
        run(run(locks.readWriteLock(name).writeLock().with(ONE_LOOK).tryAcquire())
                .release());
    }

    @Test
    void formerWriterPassesTheFenceAsAReaderUntilItsRelease() {
        LockLease writer =
                run(locks.readWriteLock(name).writeLock().with(ONE_LOOK).acquire());
        LockLease reader = run(writer.downgrade());
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, reader));
        run(data.commitTransaction());
        LockLease other =
                run(locks.readWriteLock(name).readLock().with(ONE_LOOK).acquire());
        run(reader.release());
        begin(IsolationLevel.READ_COMMITTED);
        assertThatThrownBy(() -> run(Fence.check(data, reader))).isInstanceOf(LockLostException.class);
        run(other.release());
    }

    /** The reader has the token of the writer. The text for JDBC cannot tell which of the two calls. */
    @Test
    void downgradedWriterFails() {
        LockLease writer =
                run(locks.readWriteLock(name).writeLock().with(ONE_LOOK).acquire());
        LockLease reader = run(writer.downgrade());
        begin(IsolationLevel.READ_COMMITTED);
        assertThatThrownBy(() -> run(Fence.check(data, writer))).isInstanceOf(LockLostException.class);
        assertThat(passes(writer)).isFalse();
        run(reader.release());
    }

    @Test
    void exportedLeaseFailsAndTheAdoptedOnePasses() {
        LockLease exporter = acquire(ONE_LOOK);
        LockLease adopter = run(locks.adopt(run(exporter.export())));
        begin(IsolationLevel.READ_COMMITTED);
        assertThatThrownBy(() -> run(Fence.check(data, exporter))).isInstanceOf(LockLostException.class);
        run(Fence.check(data, adopter));
        run(data.commitTransaction());
        run(adopter.release());
    }

    @Test
    void leaseThatHasEndedFailsBeforeAnyRequest() {
        LockLease lease = acquire(ONE_LOOK);
        run(lease.release());
        run(data.close());
        assertThatThrownBy(() -> run(Fence.check(data, lease))).isInstanceOf(LockLostException.class);
    }

    /** Without the check of the expiry, transactions that overlap would keep the next holder away for ever. */
    @ParameterizedTest
    @MethodSource("isolations")
    void expiredLeaseFailsAlthoughATransactionThatItHasFencedIsOpen(String isolation) {
        LockClaim dead = LockClaim.first(
                LockKey.of(LockKind.MUTEX, name), UUID.randomUUID().toString(), SOON, Waiting.NONE);
        long token = ((LockAttempt.Acquired) run(backend.tryAcquire(dead))).fencingToken();
        begin(IsolationLevel.valueOf(isolation));
        run(statement(data, check(name, token)));
        run(Mono.delay(SOON.plusMillis(50)));

        assertThat(passes(name, token)).as("a check after the end of the lease").isFalse();
        assertThat(tryOnce()).isNull();
        run(data.commitTransaction());
        run(tryOnce().release());
    }

    @Test
    void releasedSavepointsDoNotUndoTheCheck() {
        LockLease lease = acquire(ONE_LOOK);
        begin(IsolationLevel.READ_COMMITTED);
        run(statement(data, "savepoint before_it"));
        run(statement(data, "update stock set amount = 9 where item = '%s'".formatted(name)));
        run(statement(data, "release savepoint before_it"));
        run(Fence.check(data, lease));
        run(statement(data, "savepoint after_it"));
        run(statement(data, "update stock set amount = 8 where item = '%s'".formatted(name)));
        run(statement(data, "rollback to savepoint after_it"));
        run(lease.release());
        assertThat(tryOnce()).as("the next grant").isNull();
        run(data.commitTransaction());
        assertThat(stored()).isEqualTo(9);
        run(tryOnce().release());
    }

    /** The lease ends between the two phases of the commit. */
    @ParameterizedTest
    @MethodSource("isolations")
    void preparedTransactionKeepsTheNextHolderWaiting(String isolation) {
        assumeTrue(
                store.keepsLocksOfPreparedTransactions(),
                "this server forgets shared locks of prepared transactions: docs/operate/databases.md");
        LockLease lease = acquire(ONE_LOOK);
        List<String> phases = twoPhases(UUID.randomUUID().toString());
        run(data.setTransactionIsolationLevel(IsolationLevel.valueOf(isolation)));
        run(statement(data, phases.get(0)));
        run(statement(data, check(lease.lockName(), lease.fencingToken())));
        run(statement(data, "update stock set amount = 9 where item = '%s'".formatted(name)));
        for (String prepare : phases.subList(1, phases.size() - 1)) {
            run(statement(data, prepare));
        }
        run(lease.release());
        assertThat(tryOnce()).as("the next grant").isNull();
        run(statement(data, phases.get(phases.size() - 1)));
        assertThat(stored()).isEqualTo(9);
        run(tryOnce().release());
    }

    /** Returns how a transaction begins, is prepared, and is committed. */
    List<String> twoPhases(String id) {
        return List.of("begin", "prepare transaction '%s'".formatted(id), "commit prepared '%s'".formatted(id));
    }

    /** The writes of the writer are not committed yet. No reader may hold the lock and read the old data. */
    @Test
    void fencedWriterDelaysReadersAfterItsDowngradeUntilItsCommit() {
        LockLease writer =
                run(locks.readWriteLock(name).writeLock().with(ONE_LOOK).acquire());
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, writer));
        LockLease reader = run(writer.downgrade());
        assertThat(run(locks.readWriteLock(name).readLock().with(ONE_LOOK).tryAcquire()))
                .isNull();
        run(data.commitTransaction());
        LockLease other =
                run(locks.readWriteLock(name).readLock().with(ONE_LOOK).tryAcquire());
        run(reader.release());
        assertThat(passes(reader)).isFalse();
        run(other.release());
    }

    @Test
    void writerWithAnExpiredLeaseFailsWhileAReaderHolds() {
        LockClaim dead = LockClaim.first(
                LockKey.of(LockKind.WRITE, name), UUID.randomUUID().toString(), SOON, Waiting.NONE);
        LockAttempt granted = run(backend.tryAcquire(dead));
        long token = ((LockAttempt.Acquired) granted).fencingToken();
        assertThat(passes(name, token)).isTrue();
        run(Mono.delay(SOON.plusMillis(50)));
        LockLease reader =
                run(locks.readWriteLock(name).readLock().with(ONE_LOOK).acquire());
        assertThat(passes(name, token)).isFalse();
        assertThat(passes(reader)).isTrue();
        run(reader.release());
    }

    @Test
    void fencedPermitKeepsItsPermitOnly() {
        LockLease permit = run(locks.semaphore(name, 2).with(ONE_LOOK).acquire());
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, permit));
        run(permit.release());
        LockLease other = run(locks.semaphore(name, 2).with(ONE_LOOK).tryAcquire());
        assertThat(run(locks.semaphore(name, 2).with(ONE_LOOK).tryAcquire())).isNull();
        run(data.commitTransaction());
        run(run(locks.semaphore(name, 2).with(ONE_LOOK).tryAcquire()).release());
        run(other.release());
    }

    @Test
    void fencedLeaseOfManyPermitsKeepsAllOfThem() {
        ReactiveSemaphore three = locks.semaphore(name, 3).with(ONE_LOOK);
        LockLease two = run(three.permits(2).acquire());
        begin(IsolationLevel.READ_COMMITTED);
        run(Fence.check(data, two));
        run(two.release());
        assertThat(run(three.permits(2).tryAcquire())).isNull();
        run(run(three.tryAcquire()).release());
        run(data.commitTransaction());
        run(run(three.permits(3).tryAcquire()).release());
    }

    @Test
    void textForJdbcIsTheSameCheck() {
        LockLease lease = acquire(ONE_LOOK);
        assertThat(passes(lease)).isTrue();
        run(lease.release());
        assertThat(passes(lease)).isFalse();
    }

    private boolean passes(LockLease lease) {
        return passes(lease.lockName(), lease.fencingToken());
    }

    private boolean passes(String lockName, long token) {
        try {
            store.execute(check(lockName, token));
            return true;
        } catch (R2dbcException error) {
            assertThat(error.getSqlState()).as(error.getMessage()).isEqualTo("HF001");
            return false;
        }
    }

    private String check(String lockName, long token) {
        return sql().replaceFirst("\\?", "'" + lockName + "'").replaceFirst("\\?", Long.toString(token));
    }

    static Mono<Void> statement(Connection at, String sql) {
        return Flux.from(at.createStatement(sql).execute())
                .concatMap(Result::getRowsUpdated)
                .then();
    }

    /** Each holder reads, pauses for up to three leases, and writes. The committed writes must add up. */
    @Test
    void fencedWritersLoseNoUpdate() {
        LockOptions tiny = SHORT.toBuilder().leaseDuration(tinyLease()).build();
        Mono<Integer> writer = Mono.usingWhen(
                store.connections().create(),
                own -> locks.lock(name)
                        .with(tiny)
                        .acquire()
                        .flatMap(lease -> decrement(own, lease))
                        .onErrorResume(
                                error -> Mono.from(own.rollbackTransaction()).thenReturn(0))
                        .repeat(rounds() - 1)
                        .reduce(Integer::sum),
                Connection::close);
        int committed =
                Flux.range(0, 8).flatMap(i -> writer, 8).reduce(Integer::sum).block(Store.PATIENCE.multipliedBy(3));
        assertThat(committed).isPositive();
        assertThat(stored()).isEqualTo(10 - committed);
    }

    private Mono<Integer> decrement(Connection own, LockLease lease) {
        int isolation = ThreadLocalRandom.current().nextInt(2);
        Duration pause = Duration.ofMillis(
                ThreadLocalRandom.current().nextInt(3 * (int) tinyLease().toMillis()));
        return Mono.from(own.setTransactionIsolationLevel(
                        isolation == 0 ? IsolationLevel.READ_COMMITTED : IsolationLevel.REPEATABLE_READ))
                .then(Mono.defer(() -> Mono.from(own.beginTransaction())))
                .then(Fence.check(own, lease))
                .then(read(own))
                .flatMap(amount -> Mono.delay(pause).then(write(own, amount - 1)))
                // The driver of MariaDB decides at the call, not at the subscription, whether there is anything to
                // commit.
                .then(Mono.defer(() -> Mono.from(own.commitTransaction())))
                .thenReturn(1)
                .flatMap(one -> lease.release().onErrorComplete().thenReturn(one));
    }

    private void begin(IsolationLevel isolation) {
        run(Mono.from(data.setTransactionIsolationLevel(isolation)).then(Mono.from(data.beginTransaction())));
    }

    private LockLease acquire(LockOptions options) {
        return run(locks.lock(name).with(options).acquire());
    }

    private LockLease tryOnce() {
        return run(locks.lock(name).with(ONE_LOOK).tryAcquire());
    }

    private int amount(Connection at) {
        return run(read(at));
    }

    private int stored() {
        return Integer.parseInt(store.texts("select amount from stock where item = '%s'".formatted(name))
                .get(0));
    }

    private Mono<Integer> read(Connection at) {
        return Flux.from(at.createStatement("select amount from stock where item = '%s'".formatted(name))
                        .execute())
                .concatMap(result -> result.map(row -> row.get(0, Integer.class)))
                .single();
    }

    private Mono<Void> write(Connection at, int amount) {
        return Flux.from(at.createStatement("update stock set amount = %d where item = '%s'".formatted(amount, name))
                        .execute())
                .concatMap(result -> result.getRowsUpdated())
                .then();
    }

    @CanIgnoreReturnValue
    static <T> T run(org.reactivestreams.Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
