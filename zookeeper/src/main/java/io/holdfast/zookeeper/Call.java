package io.holdfast.zookeeper;

import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * One request to the driver, sent when it is subscribed to on the strand, by one subscriber. It always answers and never fails, unless the
 * driver refuses to take it. A subscriber that cancels is not told; the request goes on.
 *
 * <p>One object for the mono, the subscription, the driver's callback and the task that brings the answer to the strand: each lock cycle makes
 * three. On ZooKeeper's event thread, which Vert.x and others of the process share, it only hands the answer over.
 */
abstract class Call<T> extends Mono<Reply<T>> implements Subscription, Runnable {

    /** Which server has to answer. */
    enum Asked {
        ANY_SERVER,
        THE_LEADER,
        A_MAJORITY
    }

    private final Strand strand;
    private final Session session;
    private final Asked whom;
    private final String path;

    /** The subscriber has its answer, or has cancelled. Written on the strand, and by the thread that cancels. */
    private volatile boolean isOver;

    /** Written on ZooKeeper's event thread before it hands this over, else on the strand. */
    private @Nullable Reply<T> reply;

    // Both: on the strand.
    private @Nullable CoreSubscriber<? super Reply<T>> subscriber;
    private boolean isRequested;
    private boolean isLearned;

    /** Written on the strand, when it is sent. */
    private long sentNanos;

    /**
     * Sends nothing yet.
     *
     * @param path what it is about
     */
    Call(Strand strand, Session session, Asked whom, String path) {
        this.strand = strand;
        this.session = session;
        this.whom = whom;
        this.path = path;
    }

    /** Gives the request to the driver, with this as the callback. */
    abstract void send(ZooKeeper handle);

    /** Takes in what the answer says besides, on the strand. */
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
        sentNanos = strand.now();
        if (whom != Asked.ANY_SERVER) {
            session.proof().asksTheLeader(sentNanos);
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
        strand.run(this);
    }

    /** On the strand. */
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
        SessionProof proof = session.proof();
        switch (code) {
            case OK -> {
                proof.negotiated(session.handle().getSessionTimeout());
                switch (whom) {
                    case ANY_SERVER -> proof.answered(sentNanos, strand.now());
                    case THE_LEADER -> proof.leaderAnswered(sentNanos, strand.now());
                    case A_MAJORITY -> proof.agreed(sentNanos, strand.now());
                }
            }
            case NONODE, NODEEXISTS -> proof.answered(sentNanos, strand.now());
            case CONNECTIONLOSS -> proof.lost(sentNanos);
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
