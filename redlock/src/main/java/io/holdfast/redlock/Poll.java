package io.holdfast.redlock;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Puts one question to several masters at once. Each answers or fails exactly once, in any order and on any thread; one that takes longer
 * than the time limit fails, and its request is cancelled. This is where requests to masters are subscribed to; whoever made the poll owns
 * them.
 */
final class Poll<A> {

    private static final Logger LOG = LoggerFactory.getLogger(RedlockBackend.class);

    /** Where Reactor looks for what to do with an error that comes too late for its subscriber. By default it is logged as an error. */
    private static final String LATE_ERRORS = "reactor.onErrorDropped.local";

    /** Hears the answers. */
    interface Clerk<A> {

        void heard(int master, A answer);

        void failed(int master, Throwable why);
    }

    private final AtomicReferenceArray<@Nullable Ask> asks;
    private final Duration limit;
    private final Context context;
    private final Clerk<A> clerk;

    /** Written by the one who asks, before which no time can be up. */
    private volatile @Nullable Disposable timer;

    Poll(int masters, Duration limit, Context context, Clerk<A> clerk) {
        asks = new AtomicReferenceArray<>(masters);
        this.limit = limit;
        this.context = context.put(LATE_ERRORS, (Consumer<Throwable>) Poll::cameLate);
        this.clerk = clerk;
    }

    private static void cameLate(Throwable error) {
        LOG.debug("A master has failed after it was not awaited any more", error);
    }

    /** Asks these masters; returns when all are asked. Called once. */
    void ask(Iterable<Integer> masters, IntFunction<Mono<A>> question, Scheduler scheduler) {
        for (int master : masters) {
            Ask ask = new Ask(master);
            asks.set(master, ask);
            try {
                question.apply(master).subscribe(ask);
            } catch (RuntimeException thrown) {
                ask.onError(thrown);
            }
        }
        if (isAnyPending()) {
            try {
                timer = scheduler.schedule(this::timeUp, limit.toNanos(), java.util.concurrent.TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException disposed) {
                timeUp();
            }
            stopTimerWhenDone(); // the last answer may have come before there was a timer
        }
    }

    /**
     * Does not wait for this master any longer, and tells nobody.
     *
     * @return whether it had not answered
     */
    boolean stop(int master) {
        Ask ask = asks.get(master);
        boolean stopped = ask != null && ask.finish();
        if (stopped) {
            ask.cancel();
            stopTimerWhenDone();
        }
        return stopped;
    }

    private void timeUp() {
        for (int i = 0; i < asks.length(); i++) {
            Ask ask = asks.get(i);
            if (ask != null && ask.finish()) {
                ask.cancel();
                clerk.failed(i, new NoAnswerException(limit));
            }
        }
    }

    private void stopTimerWhenDone() {
        Disposable running = timer;
        if (running != null && !isAnyPending()) {
            running.dispose();
        }
    }

    private boolean isAnyPending() {
        for (int i = 0; i < asks.length(); i++) {
            Ask ask = asks.get(i);
            if (ask != null && !ask.isFinished) {
                return true;
            }
        }
        return false;
    }

    private final class Ask extends BaseSubscriber<A> {

        private final int master;

        /** Written once, by whoever comes first: the answer, the failure, the time limit, or the one who stops it. */
        private volatile boolean isFinished;

        Ask(int master) {
            this.master = master;
        }

        synchronized boolean finish() {
            boolean first = !isFinished;
            isFinished = true;
            return first;
        }

        @Override
        public Context currentContext() {
            return context;
        }

        @Override
        protected void hookOnNext(A answer) {
            if (finish()) {
                stopTimerWhenDone();
                clerk.heard(master, answer);
            }
        }

        @Override
        protected void hookOnError(Throwable error) {
            Exceptions.throwIfJvmFatal(error);
            if (finish()) {
                stopTimerWhenDone();
                clerk.failed(master, error);
            }
        }

        @Override
        protected void hookOnComplete() {
            if (finish()) {
                stopTimerWhenDone();
                clerk.failed(master, new IllegalStateException("completed without an answer"));
            }
        }
    }
}
