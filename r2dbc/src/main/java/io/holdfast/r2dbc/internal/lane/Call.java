package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.support.RecentClaims;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/** One operation that waits for its turn or was sent. If the subscriber cancels before it was sent, it is not sent. */
final class Call {

    /** After a deadlock, the other transaction may still run for a moment and conflict again. */
    private static final int MOST_TIMES_AGAIN = 8;

    /** The highest {@link #rank}. */
    static final int LAST_RANK = 2;

    /** The same order in all clients. */
    static final Comparator<Call> BY_LOCK = Comparator.<Call, String>comparing(
                    it -> it.operation.claim().key().name())
            .thenComparing(it -> LockText.kind(it.operation.claim().key().kind()));

    private enum State {
        WAITING,
        SENT,
        OVER
    }

    private final Operation operation;
    private final RecentClaims<Boolean> unanswered;
    private final MonoSink<Answer> subscriber;
    private final long sinceNanos;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

    /** Written by the batch that contains the call. */
    private int timesGivenBack;

    /** The error after which the call was sent again, if it may have been carried out before. Written by the batch that contains the call. */
    private @Nullable Throwable doubt;

    /** Written by the batch that contains the call. */
    private boolean isAlone;

    Call(Operation operation, RecentClaims<Boolean> unanswered, MonoSink<Answer> subscriber, long sinceNanos) {
        this.operation = operation;
        this.unanswered = unanswered;
        this.subscriber = subscriber;
        this.sinceNanos = sinceNanos;
    }

    /** When the call was made, by the timer. */
    long sinceNanos() {
        return sinceNanos;
    }

    Operation operation() {
        return operation;
    }

    /** Returns the operation to send. If an attempt of its claim is unanswered and may still arrive, a release counts as later than any. */
    Operation toSend() {
        return operation.verb() == Operation.Verb.RELEASE
                        && unanswered.contains(operation.claim().id())
                ? new Operation(Operation.Verb.RELEASE, operation.claim().withAttempt(Integer.MAX_VALUE), false)
                : operation;
    }

    /** Takes the call into a batch. Returns false if its subscriber has cancelled. */
    boolean take() {
        return state.compareAndSet(State.WAITING, State.SENT);
    }

    /** Whether the call was taken into a batch and its subscriber has not cancelled since. */
    boolean isAwaited() {
        return state.get() == State.SENT;
    }

    /**
     * Sends the call again. Returns false after too many times, or if its subscriber has cancelled.
     *
     * @param perhapsDone the error if the call may have been carried out: then a release that finds nothing fails with it
     */
    boolean giveBack(@Nullable Throwable perhapsDone) {
        doubt = perhapsDone == null ? doubt : perhapsDone;
        timesGivenBack++;
        return timesGivenBack <= MOST_TIMES_AGAIN && giveOn();
    }

    /** Hands the call to another lane. Returns false if its subscriber has cancelled: nothing was changed for it. */
    boolean giveOn() {
        return state.compareAndSet(State.SENT, State.WAITING);
    }

    void answer(Answer answer) {
        if (doubt != null && operation.verb() == Operation.Verb.RELEASE && answer.ownership() == Ownership.NOT_HELD) {
            fail(doubt);
            return;
        }
        if (operation.verb() == Operation.Verb.RELEASE) {
            unanswered.remove(operation.claim().id());
        }
        if (state.getAndSet(State.OVER) == State.SENT) {
            subscriber.success(answer);
        }
    }

    /** Fails the call. If it was sent, it is unknown whether the server carries it out, and when. */
    void fail(Throwable error) {
        State before = state.getAndSet(State.OVER);
        if (before == State.SENT) {
            remember();
        }
        if (before != State.OVER) {
            subscriber.error(error);
        }
    }

    void cancel() {
        if (state.getAndSet(State.OVER) == State.SENT) {
            remember();
        }
    }

    private void remember() {
        if (isAttempt()) {
            unanswered.add(operation.claim().id(), true);
        }
    }

    boolean isOfSameLock(Call other) {
        return lock().equals(other.lock());
    }

    /** Returns the lock as the database knows it. */
    String lock() {
        LockKey key = operation.claim().key();
        return LockText.kind(key.kind()) + ' ' + key.name();
    }

    boolean isAttempt() {
        return operation.verb() == Operation.Verb.ACQUIRE;
    }

    boolean isOver() {
        return state.get() == State.OVER;
    }

    /** From now on, a batch with this call contains calls of one lock only. */
    void goAlone() {
        isAlone = !isRenewal(); // a renewal waits for no row in a batch of several locks
    }

    boolean isAlone() {
        return isAlone;
    }

    /** How much the server must do: a renewal (0) changes a row, a release (1) may add one, and an attempt (2) adds some. */
    int rank() {
        return switch (operation.verb()) {
            case RENEW, PING -> 0;
            case RELEASE -> 1;
            case ACQUIRE -> LAST_RANK;
        };
    }

    boolean isRenewal() {
        return operation.verb() == Operation.Verb.RENEW || operation.verb() == Operation.Verb.PING;
    }
}
