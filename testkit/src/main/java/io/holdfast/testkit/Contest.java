package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The contenders for one lock name in one test. At its end it releases all, and the server must keep nothing. */
final class Contest implements AutoCloseable {

    /** For claims that must not expire within a test, on the slowest machine. */
    static final Duration LONG = Duration.ofSeconds(60);

    /** A label of the greatest length, with each kind of character that a label may have. */
    private static final String OWNER = "contract-AZaz.9_:a-host-of-some-length-7d9f8:471";

    private static final Duration POLL = Duration.ofMillis(20);

    private final LockBackendUnderTest store;
    private final LockKind kind;
    private final String name = "contract/" + UUID.randomUUID();
    private final List<Contender> contenders = new ArrayList<>();

    /** Written by the test's thread. */
    private boolean hasLosses;

    Contest(LockBackendUnderTest store) {
        this(store, LockKind.MUTEX);
    }

    /** The contenders are for this kind, unless a test names another one. */
    Contest(LockBackendUnderTest store, LockKind kind) {
        this.store = store;
        this.kind = kind;
    }

    LockKind kind() {
        return kind;
    }

    String name() {
        return name;
    }

    /** Returns a contender that does not wait. */
    Contender contender() {
        return exclusive(LONG, Waiting.NONE);
    }

    /** Returns a contender that holds the lock for a long time. */
    @CanIgnoreReturnValue
    Contender holder() {
        return holder(LONG);
    }

    @CanIgnoreReturnValue
    Contender holder(Duration lease) {
        Contender holder = exclusive(lease, Waiting.NONE);
        holder.mustAcquire();
        return holder;
    }

    /** Returns a contender with a place in the queue and a watch. */
    @CanIgnoreReturnValue
    Contender waiter() {
        return waiter(LONG);
    }

    Contender waiter(Duration lease) {
        Contender waiter = exclusive(lease, Waiting.QUEUE).watching();
        return queued(waiter);
    }

    /** Waits until its watch is active, if there are signals: only then a push reaches it. */
    @CanIgnoreReturnValue
    Contender queued(Contender waiter) {
        waiter.mustQueue();
        return armed(waiter);
    }

    @CanIgnoreReturnValue
    Contender armed(Contender watching) {
        if (store.signalsChanges()) {
            watching.mustBeSignalled(WatchSignal.Armed.class);
        }
        return watching;
    }

    Contender exclusive(Duration lease, Waiting waiting) {
        return enter(store.backend(), LockKey.of(kind, name), lease, waiting);
    }

    /** Returns a waiter that may be part of a run of this client. */
    Contender waiterOf(String client) {
        return waiterOf(client, LONG);
    }

    Contender waiterOf(String client, Duration lease) {
        LockClaim claim = LockClaim.first(LockKey.of(kind, name), newId(), lease, Waiting.QUEUE);
        return queued(enter(store.backend(), claim.withClient(client)).watching());
    }

    Contender of(LockKind kind, String client) {
        LockKey key = kind == LockKind.SEMAPHORE ? new LockKey(kind, name, 1) : LockKey.of(kind, name);
        return enter(
                store.backend(),
                LockClaim.first(key, newId(), LONG, Waiting.QUEUE).withClient(client));
    }

    Contender of(LockKind kind, Waiting waiting) {
        return enter(store.backend(), LockKey.of(kind, name), LONG, waiting);
    }

    Contender permit(int permits, Waiting waiting) {
        return enter(store.backend(), new LockKey(LockKind.SEMAPHORE, name, permits), LONG, waiting);
    }

    /** Returns a contender that takes this many permits of a semaphore. */
    Contender permits(int taken, int permits, Waiting waiting) {
        return permits(taken, permits, LONG, waiting);
    }

    Contender permits(int taken, int permits, Duration lease, Waiting waiting) {
        LockKey key = new LockKey(LockKind.SEMAPHORE, name, permits);
        return enter(
                store.backend(), LockClaim.first(key, newId(), lease, waiting).withPermits(taken));
    }

    Contender elsewhere() {
        return enter(store.anotherClient(), LockKey.of(LockKind.MUTEX, name), LONG, Waiting.NONE);
    }

    /** Returns a contender with the owner's label of its client. */
    Contender of(LockBackend client, String owner, LockKind kind, Duration lease, Waiting waiting) {
        String id = randomId() + LockClaim.OWNER_MARK + owner;
        return enter(client, LockClaim.first(LockKey.of(kind, name), id, lease, waiting));
    }

    Contender enter(LockBackend backend, LockKey key, Duration lease, Waiting waiting) {
        return enter(backend, LockClaim.first(key, newId(), lease, waiting));
    }

    private Contender enter(LockBackend backend, LockClaim claim) {
        Contender contender = new Contender(this, backend, claim);
        contenders.add(contender);
        return contender;
    }

    Duration patience() {
        return store.patience();
    }

    void passTime(Duration time) {
        store.passTime(time);
    }

    /** Sends the next attempts of these contenders, some at a time, and waits for the answers. */
    void allAttempt(List<Contender> some) {
        answer(Flux.fromIterable(some).flatMap(Contender::attempting, 16).then(Mono.just(true)));
        some.forEach(this::armed);
    }

    /** The only method that waits for the back end. */
    @CanIgnoreReturnValue
    <T> T answer(Mono<T> request) {
        try {
            T answer = request.toFuture().get(patience().toMillis(), TimeUnit.MILLISECONDS);
            assertThat(answer).as("exactly one answer").isNotNull();
            return answer;
        } catch (TimeoutException late) {
            throw new AssertionError("no answer within " + patience(), late);
        } catch (ExecutionException failed) {
            throw new AssertionError("the back end failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for the back end", interrupted);
        }
    }

    /** Ends all claims; then the server must keep nothing. */
    @Override
    public void close() {
        answer(Flux.fromIterable(contenders)
                .filter(Contender::hasVanished)
                .flatMap(Contender::leaving)
                .then(Mono.just(true)));
        contenders.stream().filter(it -> !it.hasVanished()).forEach(Contender::leave);
        awaitMemoryOfLosses();
        assertThat(store.leftovers()).as("left at the back end").isEmpty();
    }

    /**
     * Records that a client has lost a lock in this test. Its back end may remember the claim for two lease durations,
     * since a request of the claim may be under way.
     */
    void losesALock() {
        hasLosses = true;
    }

    private void awaitMemoryOfLosses() {
        long end = System.nanoTime() + store.lease().multipliedBy(4).toNanos();
        while (hasLosses && !store.leftovers().isEmpty() && System.nanoTime() - end < 0) {
            store.passTime(POLL);
        }
    }

    private static String newId() {
        return randomId() + LockClaim.OWNER_MARK + OWNER;
    }

    private static String randomId() {
        return UUID.randomUUID().toString().replace("-", "");
    }
}
