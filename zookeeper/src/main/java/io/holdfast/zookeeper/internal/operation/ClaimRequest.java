package io.holdfast.zookeeper.internal.operation;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.Fallible;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.PendingOperations;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.connection.SessionTracker;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * One subscription to an operation of a claim, from its turn to its answer. The answer leaves the executor. If the subscriber cancels,
 * nothing more is sent, unless the request is owed. After a request was sent, the operation always waits for its answer, because only the
 * answer shows what the claim has in ZooKeeper.
 *
 * <p>One object is the subscription, the turn, the work and the answer, since each lock cycle makes two requests.
 */
abstract class ClaimRequest<T> implements CoreSubscriber<T>, Subscription, PendingOperations.Operation, Runnable {

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<ClaimRequest> STAGE =
            AtomicIntegerFieldUpdater.newUpdater(ClaimRequest.class, "stage");

    /** The subscriber has requested the answer. */
    private static final int ASKED = 1;

    /** The answer has left the executor. */
    private static final int READY = 2;

    private final CoreSubscriber<? super T> subscriber;
    private final LockClaim claim;
    private final SerialExecutor executor;
    private final SessionTracker sessions;
    private final ClaimRegistry claims;

    /** Has both bits at the end. The thread that sets the second bit emits the answer. */
    private volatile int stage;

    /** Written by the thread that cancels. */
    private volatile boolean isLeft;

    // All fields below are written on the executor. The outcome is read after it has left the executor.
    private @Nullable T answer;
    private @Nullable Throwable failure;
    private @Nullable Disposable waiting;
    private @Nullable ClaimState state;
    private boolean isWaiting;
    private boolean isOwed;

    ClaimRequest(
            CoreSubscriber<? super T> subscriber,
            LockClaim claim,
            SerialExecutor executor,
            SessionTracker sessions,
            ClaimRegistry claims) {
        this.subscriber = subscriber;
        this.claim = claim;
        this.executor = executor;
        this.sessions = sessions;
        this.claims = claims;
    }

    /** Makes a request for each subscriber, and starts it on the executor. */
    static <T> Mono<T> mono(SerialExecutor executor, Function<CoreSubscriber<? super T>, ClaimRequest<T>> made) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> actual) {
                ClaimRequest<T> request = made.apply(actual);
                actual.onSubscribe(request);
                executor.run(request::start);
            }
        };
    }

    /** The first task on the executor: takes the request's turn, or fails it. */
    abstract void start();

    /** Returns the request to the servers. Called once, when there is a session. */
    abstract Mono<T> work(Session session);

    /** Returns the verb for messages, such as "acquire". */
    abstract String verb();

    /** Whether the request is carried out even if the back end is closed. */
    boolean isForClosing() {
        return false;
    }

    LockClaim claim() {
        return claim;
    }

    Subject subject() {
        return Subject.of(verb(), claim.key().name());
    }

    /** Waits for the earlier requests of the same claim. Then {@link #begin} is called. */
    void takeTurn() {
        ClaimState its = claims.open(claim);
        state = its;
        its.operations().run(this);
    }

    ClaimState state() {
        return requireNonNull(state, "no turn");
    }

    /**
     * The request must be carried out even if its subscriber cancels. This is for releases: no server deletes a node while its session goes
     * on.
     */
    void owe() {
        isOwed = true;
    }

    private boolean isOff() {
        return isLeft && !isOwed;
    }

    /** Sends the request as soon as there is a session. After that, a cancellation does not stop it. */
    void send() {
        if (isOff()) {
            end();
            return;
        }
        Session connected = sessions.connectedNow();
        if (connected != null) {
            send(connected);
            return;
        }
        isWaiting = true;
        waiting = sessions.current(subject()).subscribe(this::found, error -> {
            isWaiting = false;
            fail(error);
        });
    }

    private void found(Session session) {
        isWaiting = false;
        if (isOff()) {
            end();
        } else {
            send(session);
        }
    }

    private void send(Session session) {
        Mono<T> work;
        try {
            work = work(session);
        } catch (Throwable bug) {
            fail(Fallible.passable(bug));
            return;
        }
        work.subscribe(this);
    }

    @Override
    public void onSubscribe(Subscription s) {
        s.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(T value) {
        answer(value);
    }

    @Override
    public void onError(Throwable error) {
        fail(error);
    }

    @Override
    public void onComplete() {
        if (answer == null) {
            fail(new IllegalStateException("no answer"));
        }
    }

    void answer(T value) {
        answer = value;
        executor.leave(this);
        end();
    }

    void fail(Throwable error) {
        failure = ZooKeeperFailures.unexpected(subject(), error);
        executor.leave(this);
        end();
    }

    private void end() {
        ClaimState its = state;
        state = null;
        if (its != null) {
            its.operations().ended();
            claims.settle(its);
        }
    }

    /** Emits the outcome, outside of the executor. */
    @Override
    public void run() {
        Throwable error = failure;
        if (error == null) {
            advance(READY);
        } else if (!isLeft) {
            subscriber.onError(error);
        }
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            advance(ASKED);
        }
    }

    private void advance(int bit) {
        int before = STAGE.getAndAccumulate(this, bit, (set, added) -> set | added);
        boolean isSecond = before != 0 && (before & bit) == 0;
        T value = answer;
        if (isSecond && value != null && !isLeft) {
            subscriber.onNext(value);
            subscriber.onComplete();
        }
    }

    @Override
    public void cancel() {
        isLeft = true;
        if ((stage & READY) == 0) {
            executor.run(this::stopWaiting);
        }
    }

    private void stopWaiting() {
        if (isWaiting && !isOwed) {
            isWaiting = false;
            requireNonNull(waiting, "waits for a session").dispose();
            end();
        }
    }
}
