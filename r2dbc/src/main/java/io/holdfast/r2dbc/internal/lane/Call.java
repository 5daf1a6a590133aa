package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.r2dbc.internal.protocol.UnansweredClaims;
import io.holdfast.spi.LockKey;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.MonoSink;

/** One operation on its way: waiting for its turn, or sent. A subscriber that leaves before it was sent takes it back. */
final class Call {

    /** The other transaction of a deadlock may take a moment to go on, and meet it again. */
    private static final int MOST_TIMES_AGAIN = 8;

    /** The highest {@link #rank}. */
    static final int LAST_RANK = 2;

    private enum State {
        WAITING,
        SENT,
        OVER
    }

    private final Operation operation;
    private final UnansweredClaims unanswered;
    private final MonoSink<Answer> subscriber;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

    /** Written by the batch that it is in. */
    private int timesGivenBack;

    Call(Operation operation, UnansweredClaims unanswered, MonoSink<Answer> subscriber) {
        this.operation = operation;
        this.unanswered = unanswered;
        this.subscriber = subscriber;
    }

    Operation operation() {
        return operation;
    }

    /** What is sent: a release says whether an attempt of its claim was never answered until now. */
    Operation toSend() {
        return operation.verb() == Operation.Verb.RELEASE
                        && unanswered.contains(operation.claim().id())
                ? new Operation(Operation.Verb.RELEASE_UNSURE, operation.claim(), operation.isWatched())
                : operation;
    }

    /** False when its subscriber has left. */
    boolean take() {
        return state.compareAndSet(State.WAITING, State.SENT);
    }

    /** False when it was taken and its subscriber has left since. */
    boolean isAwaited() {
        return state.get() == State.SENT;
    }

    /** It is sent again, since nothing was done for it. False after some times, and when its subscriber has left. */
    boolean giveBack() {
        timesGivenBack++;
        return timesGivenBack <= MOST_TIMES_AGAIN && giveOn();
    }

    /** Another lane takes it. False when its subscriber has left: nothing was done for it. */
    boolean giveOn() {
        return state.compareAndSet(State.SENT, State.WAITING);
    }

    void answer(Answer answer) {
        if (operation.verb() == Operation.Verb.RELEASE) {
            unanswered.remove(operation.claim().id());
        }
        if (state.getAndSet(State.OVER) == State.SENT) {
            subscriber.success(answer);
        }
    }

    /** Fails it. If it was sent, nothing tells whether it is carried out, or when. */
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
        if (operation.verb() == Operation.Verb.ACQUIRE) {
            unanswered.add(operation.claim().id());
        }
    }

    boolean isOfSameLock(Call other) {
        LockKey one = operation.claim().key();
        LockKey two = other.operation.claim().key();
        return one.name().equals(two.name()) && LockText.kind(one.kind()).equals(LockText.kind(two.kind()));
    }

    /** How little it needs of the server: a renewal (0) changes a row, a release (1) may add one, and an attempt adds some. */
    int rank() {
        return switch (operation.verb()) {
            case RENEW, PING -> 0;
            case RELEASE, RELEASE_UNSURE -> 1;
            case ACQUIRE -> LAST_RANK;
        };
    }

    boolean isRenewal() {
        return operation.verb() == Operation.Verb.RENEW || operation.verb() == Operation.Verb.PING;
    }
}
