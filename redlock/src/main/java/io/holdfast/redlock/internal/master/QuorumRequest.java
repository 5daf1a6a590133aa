package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.MasterTimeoutException;
import io.holdfast.redlock.internal.quorum.VoteCount;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.support.Deadlines;
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
 * One request to several masters at once. Each answers or fails exactly once, in any order and on any thread. A master
 * that takes longer than the time limit fails, and its request is cancelled. A {@linkplain SilentMasters silent} master
 * fails without a request. Until a majority has answered, a master that has never answered gets more time: see {@link
 * MasterTimeLimits}. This class subscribes to the requests to masters; the round that made the request owns them.
 */
public final class QuorumRequest<A> extends Deadlines.Deadline {

    /**
     * The key under which Reactor finds the handler of an error that comes too late for its subscriber. By default
     * Reactor logs it as an error.
     */
    private static final String LATE_ERRORS = "reactor.onErrorDropped.local";

    /** For a subscriber without a context, as most are: an error that comes too late is not logged as an error. */
    static final Context NO_CONTEXT = Context.of(LATE_ERRORS, (Consumer<Throwable>) QuorumRequest::cameLate);

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicIntegerFieldUpdater<QuorumRequest> ANSWERS =
            AtomicIntegerFieldUpdater.newUpdater(QuorumRequest.class, "answers");

    private final Masters masters;
    private final List<Integer> receivers;
    private final MasterTimeLimits limits;
    private final Context context;
    private final ResponseHandler<A> handler;

    /** By master; null for a master without a request, or without one yet. */
    private final AtomicReferenceArray<@Nullable Response> responses;

    /** How many masters have answered. */
    private volatile int answers;

    /** Written by the thread that sends: until then more responses may be added, and no time limit can pass. */
    private volatile boolean isSending = true;

    /** Written before there is a deadline. */
    private volatile long sendingNanos;

    /** Whether only responses of masters that never answered are still awaited; written by the timer. */
    private volatile boolean isOvertime;

    /** What happens when the time limit passes: see {@link #failPending}. Written before the deadline is set. */
    private volatile boolean isLastCall;

    public QuorumRequest(
            Masters masters,
            List<Integer> receivers,
            MasterTimeLimits limits,
            Context context,
            ResponseHandler<A> handler) {
        this.masters = masters;
        this.receivers = receivers;
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

    /**
     * Sends the request to all masters except silent ones, which fail at once. Returns when all requests are sent.
     * Called once.
     */
    public void send(IntFunction<Mono<A>> request) {
        send(request, false);
    }

    /** As {@link #send}, but also to silent masters. */
    public void sendToAll(IntFunction<Mono<A>> request) {
        send(request, true);
    }

    private void send(IntFunction<Mono<A>> request, boolean alsoSilent) {
        long begin = masters.now();
        for (int master : receivers) {
            Response response = new Response(master);
            responses.set(master, response);
            if (!alsoSilent && masters.silent().passesOver(master, begin)) {
                response.passedOver();
            } else {
                subscribe(response, request);
            }
        }
        long now = masters.now(); // not before: the first request of a process loads classes while it is sent
        for (int master : receivers) {
            limits.contacts().asked(master, now);
        }
        sendingNanos = now - begin;
        isSending = false;
        if (isAnyPending()) {
            limit(now, limits.usual(), false);
            stopTimerWhenDone(); // the last answer may have come before there was a deadline
        }
    }

    private void subscribe(Response response, IntFunction<Mono<A>> request) {
        try {
            request.apply(response.master).subscribe(response);
        } catch (RuntimeException thrown) {
            response.onError(thrown);
        }
    }

    private void limit(long nowNanos, Duration time, boolean last) {
        isLastCall = last;
        masters.deadlines().set(this, nowNanos + time.toNanos());
    }

    /**
     * Stops waiting for this master. The handler gets no call.
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

    /** A machine that took long to send may take as long to receive the answers. */
    private Duration overtime() {
        Duration sending = Duration.ofNanos(sendingNanos);
        return sending.compareTo(limits.first()) > 0 ? sending : limits.first().minus(limits.usual());
    }

    /** Once a majority has answered, the others have no more than the usual time. */
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
        if (!isSending && !isAnyPending()) {
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

    /** The response of one master. */
    private final class Response implements CoreSubscriber<A> {

        private final int master;

        /**
         * Guarded by this. Written once, by the first of the answer, the failure, the time limit, and the round that
         * stops the request.
         */
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

        /** The master got no request. */
        void passedOver() {
            if (finish()) {
                handler.failed(master, MasterTimeoutException.notSent());
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
                masters.silent().answered(master); // any other error may be that of a connection that was given up
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
