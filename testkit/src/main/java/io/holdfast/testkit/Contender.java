package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.LockQueueFullException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** One claim in a {@link Contest}: sends numbered attempts as the engine does, and records its signals. */
final class Contender {

    private static final Duration POLL = Duration.ofMillis(20);

    private final Contest contest;
    private final LockBackend backend;
    private final BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();

    /** The last attempt sent; written by the test's thread. */
    private LockClaim claim;

    private boolean hasAttempted;
    private boolean hasVanished;
    private @Nullable Disposable watch;

    Contender(Contest contest, LockBackend backend, LockClaim claim) {
        this.contest = contest;
        this.backend = backend;
        this.claim = claim;
    }

    LockClaim claim() {
        return claim;
    }

    /** Sends the next attempt. */
    LockAttempt attempt() {
        return contest.answer(attempting());
    }

    Mono<LockAttempt> attempting() {
        if (hasAttempted) {
            claim = claim.withAttempt(claim.attempt() + 1);
        }
        hasAttempted = true;
        return backend.tryAcquire(claim);
    }

    /** Sends an attempt with a given number: a duplicate, or a late one. */
    LockAttempt attemptAs(int attempt) {
        return contest.answer(backend.tryAcquire(claim.withAttempt(attempt)));
    }

    /**
     * Sends the next attempt for the other side of its read/write lock. From then on the claim is for that side,
     * without waiting.
     */
    @CanIgnoreReturnValue
    LockAttempt attemptAs(LockKind kind) {
        claim = asKind(kind, claim.attempt() + 1);
        return contest.answer(backend.tryAcquire(claim));
    }

    /** Returns a request with that number, for one side of its read/write lock. */
    LockClaim asKind(LockKind kind, int attempt) {
        LockKey key = LockKey.of(kind, claim.key().name());
        return new LockClaim(key, claim.id(), claim.lease(), Waiting.NONE, attempt, 0, 1, claim.client());
    }

    LockAttempt attemptWithFloor(long floor) {
        claim = claim.withTokenFloor(floor);
        return attempt();
    }

    @CanIgnoreReturnValue
    long mustAcquire() {
        return token(attempt());
    }

    @CanIgnoreReturnValue
    static long token(LockAttempt answer) {
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        LockAttempt.Acquired acquired = (LockAttempt.Acquired) answer;
        assertThat(acquired.fencingToken()).as("token").isPositive();
        assertThat(acquired.lease()).as("lease in the answer").isPositive();
        return acquired.fencingToken();
    }

    void mustQueue() {
        LockAttempt answer = attempt();
        assertThat(answer).isInstanceOf(LockAttempt.Queued.class);
        assertThat(((LockAttempt.Queued) answer).nextAttemptWithin()).isPositive();
    }

    void mustBeRefused() {
        LockAttempt answer = attempt();
        assertThat(answer).isInstanceOf(LockAttempt.Contended.class);
        assertThat(((LockAttempt.Contended) answer).nextAttemptWithin()).isPositive();
    }

    void mustFindAFullQueue() {
        assertThatThrownBy(this::attempt).hasCauseInstanceOf(LockQueueFullException.class);
    }

    void mustHold() {
        assertThat(renew()).isInstanceOf(Renewal.Held.class);
    }

    /** Holds the lock as this claim, with its lease duration, from then on. */
    void mustHoldAs(LockClaim other) {
        claim = other;
        mustHold();
    }

    void mustNotHold() {
        assertThat(renew()).isEqualTo(new Renewal.NotHeld());
    }

    Renewal renew() {
        return contest.answer(backend.renew(claim));
    }

    /** Renews the claim as another process does that adopts it with this token. */
    Renewal adopt(long token) {
        return contest.answer(backend.adopt(claim, token));
    }

    @CanIgnoreReturnValue
    LockRun mustBePushedARun() {
        return ((WatchSignal.GrantedRun) mustBeSignalled(WatchSignal.GrantedRun.class)).run();
    }

    /** Sends the next attempt, as a member of a run does. */
    LockRun mustBeInARun() {
        LockAttempt answer = attempt();
        assertThat(answer).isInstanceOf(LockAttempt.AcquiredRun.class);
        LockAttempt.AcquiredRun acquired = (LockAttempt.AcquiredRun) answer;
        assertThat(acquired.lease()).as("lease in the answer").isPositive();
        return acquired.run();
    }

    @CanIgnoreReturnValue
    LockRun.End endRun(LockRun run, int served) {
        return contest.answer(backend.endRun(claim, run.number(), served));
    }

    @CanIgnoreReturnValue
    Ownership release() {
        return contest.answer(backend.release(claim));
    }

    /** Subscribes to the signals; a back end may open its channel only with the first attempt after this. */
    @CanIgnoreReturnValue
    Contender watching() {
        watch = backend.watch(claim).subscribe(signals::add, error -> {});
        return this;
    }

    void unwatch() {
        if (watch != null) {
            watch.dispose();
        }
    }

    /** Waits until this waiter is granted, by a push or an attempt; returns the token. */
    @CanIgnoreReturnValue
    long mustBeGranted() {
        long end = System.nanoTime() + contest.patience().toNanos();
        while (System.nanoTime() - end < 0) {
            if (nextSignal(POLL) instanceof WatchSignal.Granted granted) {
                return confirmed(granted);
            }
            if (attempt() instanceof LockAttempt.Acquired acquired) {
                return acquired.fencingToken();
            }
        }
        throw new AssertionError("the waiter was not granted the lock within " + contest.patience());
    }

    /** Waits for a push, without an attempt; does not confirm it. */
    @CanIgnoreReturnValue
    WatchSignal.Granted mustBePushed() {
        return (WatchSignal.Granted) mustBeSignalled(WatchSignal.Granted.class);
    }

    @CanIgnoreReturnValue
    WatchSignal mustBeSignalled(Class<? extends WatchSignal> kind) {
        long end = System.nanoTime() + contest.patience().toNanos();
        while (System.nanoTime() - end < 0) {
            WatchSignal signal = nextSignal(POLL);
            if (kind.isInstance(signal)) {
                return signal;
            }
        }
        throw new AssertionError("no signal %s within %s".formatted(kind.getSimpleName(), contest.patience()));
    }

    /** Checks the signals so far; call it only after a later event was seen to arrive. */
    void mustNotHaveBeenPushed() {
        assertThat(signals).noneMatch(WatchSignal.Granted.class::isInstance);
    }

    /**
     * Waits as a client does: it confirms a pushed grant, and sends its next attempt when the last answer says so or at
     * a signal.
     *
     * @param queued the answer to its last attempt
     * @param bound the longest time to wait
     * @return how long it has waited
     */
    @CanIgnoreReturnValue
    Duration mustBeGrantedWithin(Duration bound, LockAttempt queued) {
        long begun = System.nanoTime();
        Duration waited = Duration.ZERO;
        LockAttempt answer = queued;
        Duration due = nextAttemptWithin(answer);
        while (!(answer instanceof LockAttempt.Acquired)) {
            WatchSignal signal = signals.poll();
            if (signal instanceof WatchSignal.Granted && renew() instanceof Renewal.Held) {
                return waited;
            }
            if (isHint(signal) || waited.compareTo(due) >= 0) {
                answer = attempt();
                due = waited.plus(nextAttemptWithin(answer));
            } else if (waited.compareTo(bound) > 0) {
                throw new AssertionError("the waiter was not granted the lock within " + bound);
            } else if (signal == null) {
                contest.passTime(POLL);
                Duration onTheClock = Duration.ofNanos(System.nanoTime() - begun);
                waited = waited.plus(POLL);
                waited = onTheClock.compareTo(waited) > 0 ? onTheClock : waited;
            }
        }
        return waited;
    }

    /** A grant that is over when it arrives is a reason to try again, as a change is. */
    private static boolean isHint(@Nullable WatchSignal signal) {
        return signal instanceof WatchSignal.Changed || signal instanceof WatchSignal.Granted;
    }

    private static Duration nextAttemptWithin(LockAttempt answer) {
        if (answer instanceof LockAttempt.Queued queued) {
            return queued.nextAttemptWithin();
        }
        return answer instanceof LockAttempt.Contended contended ? contended.nextAttemptWithin() : Duration.ZERO;
    }

    /** Marks a claim of a client that vanishes: its release at the end of the test may fail. */
    @CanIgnoreReturnValue
    Contender vanishing() {
        hasVanished = true;
        return this;
    }

    boolean hasVanished() {
        return hasVanished;
    }

    Mono<Ownership> leaving() {
        unwatch();
        return backend.release(claim).onErrorReturn(Ownership.NOT_HELD);
    }

    /** Cancels the watch and releases. */
    void leave() {
        unwatch();
        release();
    }

    private long confirmed(WatchSignal.Granted granted) {
        mustHold();
        return granted.fencingToken();
    }

    private @Nullable WatchSignal nextSignal(Duration within) {
        try {
            return signals.poll(within.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a signal", interrupted);
        }
    }
}
