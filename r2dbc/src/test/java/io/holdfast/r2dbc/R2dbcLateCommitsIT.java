package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

/**
 * Commits hang in the server for longer than the client waits, and then succeed, as with a slow disk or an unreachable synchronous replica.
 * In these tests, the server waits for a replica that does not exist.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcLateCommitsIT {

    private Store store;

    private LockClaim claim;
    private R2dbcLockBackend backend;

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
        claim = LockClaim.first(
                LockKey.of(LockKind.MUTEX, "late/" + UUID.randomUUID()),
                UUID.randomUUID().toString(),
                Duration.ofSeconds(30),
                Waiting.NONE);
        backend = R2dbcLockBackend.builder(store.connections())
                .replyTimeout(store.replyTimeout())
                .build();
        run(backend.ping().retry(5));
    }

    @AfterEach
    void nothingIsLeft() {
        Hooks.resetOnErrorDropped();
        store.resumeCommits();
        Store.end(backend);
        Store.eventually(() -> store.clientConnections() == 0);
        assertThat(store.leftovers()).isEmpty();
    }

    /** The attempt has created the row of a new lock, and the release cannot see that row yet. */
    @Test
    void attemptOnANewLockThatCommitsAfterItsReleaseLeavesNothing() {
        store.holdUpCommits();
        assertThatThrownBy(() -> run(backend.tryAcquire(claim))).isInstanceOf(LockBackendException.class);
        AtomicInteger unanswered = new AtomicInteger();
        Mono<Ownership> release = backend.release(claim)
                .doOnError(error -> unanswered.incrementAndGet())
                .retry()
                .cache();
        Disposable unused = release.subscribe();
        // The release waits for the row, or its own commit hangs as well.
        Store.eventually(() -> store.hasBlockedCall()
                || unanswered.get() > 0
                || release.toFuture().isDone());
        store.resumeCommits();
        run(release);
        assertThat(store.leftovers()).isEmpty();
    }

    /** Each call that times out leaves its session in the server until its commit ends. These sessions must not pile up. */
    @Test
    void hangingCommitsUseAtMostThreeConnectionsOfTheServer() {
        store.holdUpCommits();
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        for (int i = 0; i < 6; i++) {
            LockClaim other = LockClaim.first(
                    LockKey.of(LockKind.MUTEX, claim.key().name() + i), claim.id() + i, claim.lease(), Waiting.NONE);
            assertThatThrownBy(() -> run(backend.tryAcquire(other))).isInstanceOf(LockBackendException.class);
        }
        if (store.canEndCommits()) {
            Store.eventually(() -> store.clientConnections() <= 3);
        }
        store.resumeCommits();
        Store.eventually(() -> store.clientConnections() <= 3);
        store.execute("update holdfast_lock set holder = null");
        assertThat(dropped).as("stack traces in the log").isEmpty();
    }

    /**
     * The release grants the lock to a waiter of another client. No client may be told of a grant that only the primary has. In MariaDB, a
     * session that is ended shows its commit, so there the waiter may be told.
     */
    @Test
    void grantWhoseCommitHangsIsToldToNoClient() {
        R2dbcLockBackend other = R2dbcLockBackend.create(store.connections());
        LockClaim waiter = LockClaim.first(claim.key(), UUID.randomUUID().toString(), claim.lease(), Waiting.QUEUE);
        LockClaim another = LockClaim.first(
                LockKey.of(LockKind.MUTEX, claim.key().name() + "/2"), claim.id(), claim.lease(), Waiting.NONE);
        List<WatchSignal> signals = new CopyOnWriteArrayList<>();
        Disposable watch = other.watch(waiter).subscribe(signals::add, error -> {});
        run(backend.tryAcquire(claim));
        run(other.tryAcquire(waiter));
        Store.eventually(() -> signals.contains(new WatchSignal.Armed()));
        store.holdUpCommits();
        Mono<Boolean> ping = backend.ping().thenReturn(true).onErrorReturn(false);
        List<Object> answers = run(Flux.merge(
                        ping, // so the two behind it share a batch
                        backend.release(claim).cast(Object.class).onErrorResume(Mono::just),
                        backend.tryAcquire(another).cast(Object.class).onErrorResume(Mono::just))
                .skip(1)
                .collectList());
        assertThat(answers).hasSize(2).allSatisfy(it -> assertThat(it).isInstanceOf(LockBackendException.class));
        if (store.canEndCommits()) {
            Store.eventually(() -> store.clientConnections() <= 3);
        }
        if (!store.product().equals("MariaDB")) {
            assertThat(signals).noneMatch(WatchSignal.Granted.class::isInstance);
        }
        watch.dispose();
        store.resumeCommits();
        run(other.release(waiter.withAttempt(2)).retry(5));
        run(backend.release(another.withAttempt(2)).retry(5));
        Store.end(other);
    }

    /** Otherwise a crash of the server would undo it. */
    @Test
    void breakOfALockThatIsNotOnTheDiskIsNotAnswered() {
        R2dbcLockInspector inspector = R2dbcLockBackend.builder(store.connections())
                .replyTimeout(store.replyTimeout())
                .inspector();
        run(backend.tryAcquire(claim));
        LockHolder holder = backend.holders(claim.key()).blockFirst();
        store.holdUpCommits();
        assertThatThrownBy(() -> run(inspector.breakHold(claim.key().name(), holder)))
                .isInstanceOf(LockBackendException.class);
        store.resumeCommits();
        run(backend.release(claim).retry(5));
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
