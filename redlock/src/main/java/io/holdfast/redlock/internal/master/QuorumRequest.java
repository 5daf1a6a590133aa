package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.MasterTimeoutException;
import io.holdfast.redlock.internal.quorum.VoteCount;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.Deadlines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One question to several masters at once. Each answers or fails exactly once, in any order and on any thread; one that takes longer
 * than the time limit fails, and its request is cancelled. One that is {@linkplain SilentMasters silent} fails without being asked. Until a majority has answered, a master that never has gets more time: see {@link
 * MasterTimeLimits}. This is where requests to masters are subscribed to; the round that made the request owns them.
 */
public final class QuorumRequest<A> extends Deadlines.Deadline {

    /** Where Reactor looks for what to do with an error that comes too late for its subscriber. By default it is logged as an error. */
    private static final String LATE_ERRORS = "reactor.onErrorDropped.local";

    /** Of a subscriber without a context, as most are: an error that comes too late is no error for the log. */
    static final Context NO_CONTEXT = Context.of(LATE_ERRORS, (Consumer<Throwable>) QuorumRequest::cameLate);

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicIntegerFieldUpdater<QuorumRequest> ANSWERS =
            AtomicIntegerFieldUpdater.newUpdater(QuorumRequest.class, "answers");

    private final Masters masters;
    private final List<Integer> asked;
    private final MasterTimeLimits limits;
    private final Context context;
    private final ResponseHandler<A> handler;

    /** By master; null for one that is not asked, or not yet. */
    private final AtomicReferenceArray<@Nullable Response> responses;

    /** How many masters have answered. */
    private volatile int answers;

    /** Written by the thread that asks: until then there may be more to await, and no time can be up. */
    private volatile boolean isAsking = true;

    /** Written before there is a deadline. */
    private volatile long sendingNanos;

    /** Whether only masters that never answered are awaited any more; written by the timer. */
    private volatile boolean isOvertime;

    /** What is to be done when the time is up: see {@link #failPending}. Written before the deadline is set. */
    private volatile boolean isLastCall;

    public QuorumRequest(
            Masters masters,
            List<Integer> asked,
            MasterTimeLimits limits,
            Context context,
            ResponseHandler<A> handler) {
        this.masters = masters;
        this.asked = asked;
        this.limits = limits;
        this.context = context.isEmpty()
                ? NO_CONTEXT
                : context.put(LATE_ERRORS, (Consumer<Throwable>) QuorumRequest::cameLate);
        this.handler = handler;
        responses = new AtomicReferenceArray<>(masters.size());
    }

    private static void cameLate(Throwable error) {
        Masters.LOG.debug("A master has failed after it was not awaited any more", error);
    }

    /** Asks, except those that are silent, which fail at once; returns when all are asked. Called once. */
    public void ask(IntFunction<Mono<A>> question) {
        ask(question, false);
    }

    /** The same, and asks silent ones too. */
    public void askAll(IntFunction<Mono<A>> question) {
        ask(question, true);
    }

    private void ask(IntFunction<Mono<A>> question, boolean alsoSilent) {
        long begin = masters.now();
        for (int master : asked) {
            Response response = new Response(master);
            responses.set(master, response);
            if (!alsoSilent && masters.silent().passesOver(master, begin)) {
                response.passedOver();
            } else {
                subscribe(response, question);
            }
        }
        long now = masters.now(); // only now: the first request of a process loads classes while it is sent
        for (int master : asked) {
            limits.contacts().asked(master, now);
        }
        sendingNanos = now - begin;
        isAsking = false;
        if (isAnyPending()) {
            limit(now, limits.usual(), false);
            stopTimerWhenDone(); // the last answer may have come before there was a deadline
        }
    }

    private void subscribe(Response response, IntFunction<Mono<A>> question) {
        try {
            question.apply(response.master).subscribe(response);
        } catch (RuntimeException thrown) {
            response.onError(thrown);
        }
    }

    private void limit(long nowNanos, Duration time, boolean last) {
        isLastCall = last;
        masters.deadlines().set(this, nowNanos + time.toNanos());
    }

    /**
     * Does not wait for this master any longer. The handler is not told.
     *
     * @return whether it had not answered
     */
    public boolean stop(int master) {
        Response response = responses.get(master);
        boolean stopped = response != null && response.finish();
        if (stopped) {
            response.cancel();
            stopTimerWhenDone();
        }
        return stopped;
    }

    public boolean isAwaiting(int master) {
        Response response = responses.get(master);
        return response != null && !response.isFinished();
    }

    @Override
    protected void passed() {
        if (isLastCall) {
            failPending();
        } else {
            timeUp();
        }
    }

    private void timeUp() {
        boolean isAnyNew = false;
        long now = masters.now();
        for (int i = 0; i < responses.length(); i++) {
            Response response = responses.get(i);
            if (response != null && !response.isFinished()) {
                boolean isAwaited = !hasMajority() && limits.mayTakeLonger(response.master, now);
                isAnyNew |= isAwaited;
                if (!isAwaited) {
                    fail(response, limits.usual());
                }
            }
        }
        if (isAnyNew) {
            isOvertime = true;
            limit(now, overtime(), true);
            heard();
        }
    }

    /** A machine that took long to send may take as long to hear the answers. */
    private Duration overtime() {
        Duration sending = Duration.ofNanos(sendingNanos);
        return sending.compareTo(limits.first()) > 0 ? sending : limits.first().minus(limits.usual());
    }

    /** From the moment on at which a majority has answered, the others have no more time than usual. */
    private void heard() {
        if (isOvertime && hasMajority()) {
            isOvertime = false;
            limit(masters.now(), limits.usual(), true);
        }
        stopTimerWhenDone();
    }

    private boolean hasMajority() {
        return answers >= VoteCount.majorityOf(responses.length());
    }

    private void failPending() {
        for (int i = 0; i < responses.length(); i++) {
            Response response = responses.get(i);
            if (response != null) {
                fail(response, isOvertime ? limits.first() : limits.usual());
            }
        }
    }

    private void fail(Response response, Duration limit) {
        if (response.finish()) {
            response.cancel();
            masters.silent().timedOut(response.master, masters.now());
            handler.failed(response.master, MasterTimeoutException.after(limit));
        }
    }

    private void stopTimerWhenDone() {
        if (!isAsking && !isAnyPending()) {
            masters.deadlines().off(this);
        }
    }

    private boolean isAnyPending() {
        for (int i = 0; i < responses.length(); i++) {
            Response response = responses.get(i);
            if (response != null && !response.isFinished()) {
                return true;
            }
        }
        return false;
    }

    /** What one master answers. */
    private final class Response implements CoreSubscriber<A> {

        private final int master;

        /** Guarded by this. Written once, by the first of the answer, the failure, the time limit, and the round that stops it. */
        private volatile boolean isFinished;

        private volatile @Nullable Subscription subscription;

        Response(int master) {
            this.master = master;
        }

        boolean isFinished() {
            return isFinished;
        }

        synchronized boolean finish() {
            boolean first = !isFinished;
            isFinished = true;
            return first;
        }

        /** It was not asked. */
        void passedOver() {
            if (finish()) {
                handler.failed(master, MasterTimeoutException.notAsked());
            }
        }

        void cancel() {
            Subscription present = subscription;
            if (present != null) {
                present.cancel();
            }
        }

        @Override
        public Context currentContext() {
            return context;
        }

        @Override
        public void onSubscribe(Subscription given) {
            if (!Operators.validate(subscription, given)) {
                return;
            }
            subscription = given;
            if (isFinished) {
                given.cancel();
            } else {
                given.request(Long.MAX_VALUE);
            }
        }

        @Override
        public void onNext(A answer) {
            limits.contacts().answered(master);
            masters.silent().answered(master);
            if (finish()) {
                ANSWERS.incrementAndGet(QuorumRequest.this);
                QuorumRequest.this.heard();
                handler.heard(master, answer);
            }
        }

        @Override
        public void onError(Throwable error) {
            Exceptions.throwIfJvmFatal(error);
            if (VoteRecord.abstention(error).isPresent()) {
                masters.silent().answered(master); // any other error may be that of a connection which is given up
            }
            if (finish()) {
                stopTimerWhenDone();
                handler.failed(master, error);
            } else {
                cameLate(error);
            }
        }

        @Override
        public void onComplete() {
            if (finish()) {
                stopTimerWhenDone();
                handler.failed(master, new IllegalStateException("completed without an answer"));
            }
        }
    }
}
