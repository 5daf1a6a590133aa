package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** The server has no room for new rows, or accepts no writes at all. Then it recovers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcFullDiskIT {

    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final Duration LASTING = Duration.ofSeconds(12);
    private static final Duration LONG = Duration.ofSeconds(60);

    /** Far shorter than the long lease. */
    private static final LockOptions PATIENT =
            LockOptions.builder().waitTimeout(Store.PATIENCE.dividedBy(2)).build();

    private Store store;
    private String name;
    private R2dbcLockBackend backend;
    private LockClient locks;

    /** The reason why the server writes nothing. */
    enum Refusal {
        READ_ONLY("connect to the primary"),
        DISK_FULL("disk is full: make room there");

        private final String advice;

        Refusal(String advice) {
            this.advice = advice;
        }

        void begin(Store store) {
            if (this == DISK_FULL) {
                store.fillDisk(true);
            } else {
                ((PostgresStore) store).setReadOnly(true);
            }
        }

        void end(Store store) {
            if (this == DISK_FULL) {
                store.makeRoom();
            } else {
                ((PostgresStore) store).setReadOnly(false);
            }
        }
    }

    /** Creates the database; PostgreSQL in this class. */
    Store newStore() {
        return Store.start();
    }

    List<Refusal> refusals() {
        return List.of(Refusal.values());
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
        name = "full/" + UUID.randomUUID();
        backend = R2dbcLockBackend.create(store.connections());
        locks = LockClient.create(backend);
    }

    @AfterEach
    void nothingIsLeft() {
        refusals().forEach(it -> it.end(store));
        run(locks.close());
        Store.end(backend);
        assertThat(store.leftovers()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void errorNamesTheLockAndWhatToDo(Refusal refusal) {
        refusal.begin(store);
        assertThatThrownBy(() -> run(locks.lock(name).tryAcquire()))
                .isInstanceOfSatisfying(LockBackendException.class, error -> {
                    assertThat(error.isTransient()).isTrue();
                    assertThat(error.lockName()).isEqualTo(name);
                })
                .hasMessageContaining(name)
                .hasMessageContaining(refusal.advice);
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void waiterGetsTheLockOnceTheServerWritesAgain(Refusal refusal) {
        refusal.begin(store);
        CompletableFuture<LockLease> waiting =
                locks.lock(name).with(PATIENT).acquire().toFuture();
        // This attempt is sent after the attempt of the waiter, so that one has failed, too.
        assertThatThrownBy(() -> run(backend.tryAcquire(claim(name + "/other"))));
        assertThat(waiting).isNotDone();
        refusal.end(store);
        assertThat(waiting).succeedsWithin(Store.PATIENCE);
        run(waiting.join().release());
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void leaseWithoutRenewalIsLostInTimeAndSaysWhy(Refusal refusal) {
        CompletableFuture<LockLease> started = new CompletableFuture<>();
        CompletableFuture<Object> work = locks.lock(name)
                .with(LockOptions.builder().leaseDuration(SHORT).build())
                .withLock(lease -> {
                    started.complete(lease);
                    return Mono.never();
                })
                .toFuture();
        assertThat(started).succeedsWithin(Store.PATIENCE);
        refusal.begin(store);
        assertThat(work)
                .failsWithin(Store.PATIENCE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockLostException.class)
                .havingCause()
                .withMessageContaining(refusal.advice);
        refusal.end(store);
        run(locks.lock(name).with(PATIENT).acquire().flatMap(LockLease::release));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void leaseSurvivesARefusalThatEndsBeforeIt(Refusal refusal) {
        LockLease held = run(locks.lock(name)
                .with(LockOptions.builder().leaseDuration(LASTING).build())
                .acquire());
        refusal.begin(store);
        assertThatThrownBy(() -> run(held.renew()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining(refusal.advice);
        assertThat(held.isValid()).isTrue();
        refusal.end(store);
        // This renewal, or an earlier one by itself: a part of the lease after the failed one.
        run(held.renew());
        run(held.release());
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void lockWithAFailedReleaseIsFreeSoonAfterwards(Refusal refusal) {
        LockLease held = run(locks.lock(name)
                .with(LockOptions.builder().leaseDuration(LONG).build())
                .acquire());
        refusal.begin(store);
        Mono<Void> release = held.release().onErrorComplete().cache();
        var unused = release.subscribe();
        assertThatThrownBy(() -> run(backend.tryAcquire(claim(name + "/other"))));
        refusal.end(store);
        run(release);
        run(locks.lock(name).with(PATIENT).acquire().flatMap(LockLease::release));
    }

    /** A full disk refuses requests that need room. It must not cost leases whose renewals need none. */
    @Test
    void renewalsAndReleasesThatNeedNoRoomSucceedBesideClaimsThatNeedSome() {
        LockClaim renewed = claim(name);
        LockClaim released = claim(name + "/released");
        run(backend.tryAcquire(renewed));
        run(backend.tryAcquire(released));
        store.fillDisk(false);
        // While the first call is under way, the others collect in a batch and share a transaction.
        CompletableFuture<LockAttempt> first =
                backend.tryAcquire(claim(name + "/first")).toFuture();
        CompletableFuture<LockAttempt> second =
                backend.tryAcquire(claim(name + "/second")).toFuture();
        CompletableFuture<Renewal> renewal = backend.renew(renewed).toFuture();
        CompletableFuture<?> release = backend.release(released).toFuture();
        assertThat(renewal).succeedsWithin(Store.PATIENCE).isInstanceOf(Renewal.Held.class);
        assertThat(release).succeedsWithin(Store.PATIENCE);
        assertThat(first).failsWithin(Store.PATIENCE);
        assertThat(second).failsWithin(Store.PATIENCE);
        run(backend.release(renewed));
    }

    private static LockClaim claim(String lock) {
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, lock), UUID.randomUUID().toString(), LONG, Waiting.NONE);
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
