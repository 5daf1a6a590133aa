package io.holdfast.zookeeper.internal.client;

import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * One request to the driver, sent when it is subscribed to on the executor, by one subscriber. It always answers and never fails, unless the
 * driver refuses to take it. A subscriber that cancels is not told; the request goes on.
 *
 * <p>One object for the mono, the subscription, the driver's callback and the task that brings the answer to the executor: each lock cycle makes
 * three. On ZooKeeper's event thread, which Vert.x and others of the process share, it only hands the answer over.
 */
abstract class Call<T> extends Mono<Reply<T>> implements Subscription, Runnable {

    /** Which server has to answer. */
    enum AnsweredBy {
        ANY_SERVER,
        LEADER,
        /** The leader, once a majority has agreed: to a transaction. */
        QUORUM
    }

    private final SerialExecutor executor;
    private final Session session;
    private final AnsweredBy answeredBy;
    private final String path;

    /** The subscriber has its answer, or has cancelled. Written on the executor, and by the thread that cancels. */
    private volatile boolean isOver;

    /** Written on ZooKeeper's event thread before it hands this over, else on the executor. */
    private @Nullable Reply<T> reply;

    // Both: on the executor.
    private @Nullable CoreSubscriber<? super Reply<T>> subscriber;
    private boolean isRequested;
    private boolean isLearned;

    /** Written on the executor, when it is sent. */
    private long sentNanos;

    /**
     * Sends nothing yet.
     *
     * @param path what it is about
     */
    Call(SerialExecutor executor, Session session, AnsweredBy answeredBy, String path) {
        this.executor = executor;
        this.session = session;
        this.answeredBy = answeredBy;
        this.path = path;
    }

    /** Gives the request to the driver, with this as the callback. */
    abstract void send(ZooKeeper handle);

    /** Takes in what the answer says besides, on the executor. */
    void learn(Reply<T> answered) {}

    String path() {
        return path;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Reply<T>> actual) {
        if (subscriber != null) {
            Operators.error(actual, new IllegalStateException("a call is sent once"));
            return;
        }
        subscriber = actual;
        actual.onSubscribe(this);
        if (isOver) {
            return;
        }
        sentNanos = executor.now();
        if (answeredBy != AnsweredBy.ANY_SERVER) {
            session.validity().asksTheLeader(sentNanos);
        }
        try {
            send(session.handle());
        } catch (RuntimeException refused) {
            actual.onError(Operators.onOperatorError(refused, actual.currentContext()));
        }
    }

    /** On ZooKeeper's event thread. */
    final void answered(int code, @Nullable T body) {
        answered(Reply.of(code, path, body));
    }

    /** On ZooKeeper's event thread. */
    final void answered(Reply<T> answer) {
        reply = answer;
        executor.run(this);
    }

    /** On the executor. */
    @Override
    public void run() {
        Reply<T> answered = reply;
        if (answered != null) {
            proves(answered.code());
            learn(answered);
            isLearned = true;
            tell(answered);
        }
    }

    /** Other codes may be the driver's own: they prove nothing. */
    private void proves(Code code) {
        SessionValidity validity = session.validity();
        switch (code) {
            case OK -> {
                validity.negotiated(session.handle().getSessionTimeout());
                switch (answeredBy) {
                    case ANY_SERVER -> validity.answered(sentNanos, executor.now());
                    case LEADER -> validity.leaderAnswered(sentNanos, executor.now());
                    case QUORUM -> validity.agreed(sentNanos, executor.now());
                }
            }
            case NONODE, NODEEXISTS -> validity.answered(sentNanos, executor.now());
            case CONNECTIONLOSS -> validity.lost(sentNanos);
            default -> {}
        }
    }

    private void tell(Reply<T> answered) {
        CoreSubscriber<? super Reply<T>> waits = subscriber;
        if (waits != null && isRequested && !isOver) {
            isOver = true;
            waits.onNext(answered);
            waits.onComplete();
        }
    }

    @Override
    public void request(long n) {
        Reply<T> answered = reply;
        isRequested |= Operators.validate(n);
        if (isLearned && answered != null) {
            tell(answered);
        }
    }

    @Override
    public void cancel() {
        isOver = true;
    }
}
