package io.holdfast.zookeeper.internal.client;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

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
 * One request to the driver. It is sent when its one subscriber subscribes, on the executor. It always emits an answer and never fails.
 * After a cancellation it emits nothing, but the request goes on.
 *
 * <p>One object is the mono, the subscription and the task that brings the answer to the executor, since each lock cycle makes two calls. On ZooKeeper's event thread, which Vert.x and other code of the process share, it only hands the answer over.
 */
final class Call<T> extends Mono<Reply<T>> implements Subscription, Runnable {

    /** Gives a request to the driver. The callback brings the answer to the call. */
    interface Request<T> {

        void send(ZooKeeper handle, Call<T> call);
    }

    /** Which server has to answer. */
    enum AnsweredBy {
        ANY_SERVER,
        LEADER,
        /** The leader, after a majority has agreed to a transaction. */
        QUORUM
    }

    private final SerialExecutor executor;
    private final Session session;
    private final AnsweredBy answeredBy;
    private final String path;
    private final Request<T> request;

    /** True when the subscriber has its answer or has cancelled. Written on the executor, and by the thread that cancels. */
    private volatile boolean isOver;

    /** Written on ZooKeeper's event thread before it hands the task over, else on the executor. */
    private @Nullable Reply<T> reply;

    // The next three: written on the executor.
    private @Nullable CoreSubscriber<? super Reply<T>> subscriber;
    private boolean isRequested;
    private boolean isLearned;

    /** Written on the executor, when the request is sent. */
    private long sentNanos;

    /**
     * Sends nothing yet.
     *
     * @param path the node of the request
     */
    Call(SerialExecutor executor, Session session, AnsweredBy answeredBy, String path, Request<T> request) {
        this.executor = executor;
        this.session = session;
        this.answeredBy = answeredBy;
        this.path = path;
        this.request = request;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Reply<T>> actual) {
        if (subscriber != null) {
            Operators.error(actual, new IllegalStateException("a call can be subscribed to only once"));
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
            request.send(session.handle(), this);
        } catch (RuntimeException refused) {
            answered(Code.BADARGUMENTS.intValue(), null);
            LOG.error("The driver of ZooKeeper refused a request for {}", path, refused);
        } catch (Error failed) {
            answered(Code.SYSTEMERROR.intValue(), null); // the driver may have sent the request before
            LOG.error("The driver of ZooKeeper failed during a request for {}", path, failed);
        }
    }

    /** On ZooKeeper's event thread. */
    void answered(int code, @Nullable T body) {
        answered(Reply.of(code, path, body));
    }

    /** On ZooKeeper's event thread. */
    void answered(Reply<T> answer) {
        reply = answer;
        executor.run(this);
    }

    /** On the executor. */
    @Override
    public void run() {
        Reply<T> answered = reply;
        if (answered != null) {
            proves(answered.code());
            isLearned = true;
            tell(answered);
        }
    }

    /** Other codes may come from the driver itself, so they prove nothing. */
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
