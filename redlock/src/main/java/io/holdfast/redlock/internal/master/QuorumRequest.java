package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.MasterTimeoutException;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.support.Deadlines;
import io.holdfast.spi.support.Fallible;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One request to several masters at once. Each answers or fails exactly once, in any order and on any thread. A master
 * that takes longer than the time limit fails, and its request is cancelled. A {@linkplain SilentMasters silent} master
 * fails without a request. This class subscribes to the requests to masters; the round that made the request owns them.
 */
public final class QuorumRequest<A> extends Deadlines.Deadline {

    /**
     * The key under which Reactor finds the handler of an error that comes too late for its subscriber. By default
     * Reactor logs it as an error.
     */
    private static final String LATE_ERRORS = "reactor.onErrorDropped.local";

    /** For a subscriber without a context, as most are: an error that comes too late is not logged as an error. */
    static final Context NO_CONTEXT = Context.of(LATE_ERRORS, (Consumer<Throwable>) QuorumRequest::cameLate);

    private final Masters masters;
    private final List<Integer> receivers;
    private final Duration limit;
    private final Context context;
    private final ResponseHandler<A> handler;

    /** By master; null for a master without a request, or without one yet. */
    private final AtomicReferenceArray<@Nullable Response> responses;

    /** Written by the thread that sends: until then more responses may be added, and no time limit can pass. */
    private volatile boolean isSending = true;

    public QuorumRequest(
            Masters masters, List<Integer> receivers, Duration limit, Context context, ResponseHandler<A> handler) {
        this.masters = masters;
        this.receivers = receivers;
        this.limit = limit;
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
        long begin = masters.now();
        for (int master : receivers) {
            Response response = new Response(master);
            responses.set(master, response);
            if (masters.silent().passesOver(master, begin)) {
                response.passedOver();
            } else {
                subscribe(response, request);
            }
        }
        isSending = false;
        if (isAnyPending()) {
            // Not before: the first request of a process loads classes while it is sent.
            masters.deadlines().set(this, masters.now() + limit.toNanos());
            stopTimerWhenDone(); // the last answer may have come before there was a deadline
        }
    }

    private void subscribe(Response response, IntFunction<Mono<A>> request) {
        try {
            request.apply(response.master).subscribe(response);
        } catch (Throwable thrown) {
            response.onError(thrown);
        }
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
        for (int i = 0; i < responses.length(); i++) {
            Response response = responses.get(i);
            if (response != null && response.finish()) {
                response.cancel();
                masters.silent().timedOut(response.master, masters.now());
                handler.failed(response.master, MasterTimeoutException.after(limit));
            }
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
            masters.silent().answered(master);
            if (finish()) {
                stopTimerWhenDone();
                handler.heard(master, answer);
            }
        }

        @Override
        public void onError(Throwable thrown) {
            Throwable error = Fallible.passable(thrown);
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
