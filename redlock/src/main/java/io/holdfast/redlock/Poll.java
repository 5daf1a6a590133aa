package io.holdfast.redlock;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Puts one question to several masters at once. Each answers or fails exactly once, in any order and on any thread; one that takes longer
 * than the time limit fails, and its request is cancelled. Until a majority has answered, a master that never has gets more time: see {@link
 * TimeLimits}. This is where requests to masters are subscribed to; whoever made the poll owns
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
    private final TimeLimits limits;
    private final AtomicInteger answers = new AtomicInteger();
    private final Context context;
    private final Clerk<A> clerk;

    private final Disposable.Swap timer = Disposables.swap();

    /** Written by the poll that asks, before which no time can be up. */
    private volatile @Nullable Scheduler scheduler;

    /** Written by the poll that asks: until then there may be more to await. */
    private volatile boolean isAsking = true;

    /** Written before there is a timer. */
    private volatile long sendingNanos;

    /** Whether only masters that never answered are awaited any more; written by the timer. */
    private volatile boolean isOvertime;

    Poll(int masters, TimeLimits limits, Context context, Clerk<A> clerk) {
        asks = new AtomicReferenceArray<>(masters);
        this.limits = limits;
        this.context = context.put(LATE_ERRORS, (Consumer<Throwable>) Poll::cameLate);
        this.clerk = clerk;
    }

    private static void cameLate(Throwable error) {
        LOG.debug("A master has failed after it was not awaited any more", error);
    }

    /** Asks these masters; returns when all are asked. Called once. */
    void ask(Iterable<Integer> masters, IntFunction<Mono<A>> question, Scheduler clock) {
        scheduler = clock;
        long begin = clock.now(TimeUnit.NANOSECONDS);
        for (int master : masters) {
            Ask ask = new Ask(master);
            asks.set(master, ask);
            try {
                question.apply(master).subscribe(ask);
            } catch (RuntimeException thrown) {
                ask.onError(thrown);
            }
        }
        long now = clock.now(
                TimeUnit.NANOSECONDS); // only now: the first request of a process loads classes while it is sent
        masters.forEach(master -> limits.contacts().asked(master, now));
        sendingNanos = now - begin;
        isAsking = false;
        if (isAnyPending()) {
            after(limits.usual(), clock, this::timeUp);
            stopTimerWhenDone(); // the last answer may have come before there was a timer
        }
    }

    private void after(Duration delay, Scheduler clock, Runnable task) {
        try {
            boolean unused = timer.update(clock.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            failPending();
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

    boolean isAwaiting(int master) {
        Ask ask = asks.get(master);
        return ask != null && !ask.isFinished;
    }

    private void timeUp() {
        Scheduler clock = Objects.requireNonNull(scheduler, "asked by nobody");
        boolean isAnyNew = false;
        for (int i = 0; i < asks.length(); i++) {
            Ask ask = asks.get(i);
            if (ask != null && !ask.isFinished) {
                boolean isAwaited = !hasMajority() && limits.mayTakeLonger(i, clock.now(TimeUnit.NANOSECONDS));
                isAnyNew |= isAwaited;
                if (!isAwaited) {
                    fail(i, ask, limits.usual());
                }
            }
        }
        if (isAnyNew) {
            isOvertime = true;
            after(overtime(), clock, this::failPending);
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
        Scheduler clock = scheduler;
        if (isOvertime && clock != null && hasMajority()) {
            isOvertime = false;
            after(limits.usual(), clock, this::failPending);
        }
        stopTimerWhenDone();
    }

    private boolean hasMajority() {
        return answers.get() >= Tally.majorityOf(asks.length());
    }

    private void failPending() {
        for (int i = 0; i < asks.length(); i++) {
            Ask ask = asks.get(i);
            if (ask != null) {
                fail(i, ask, isOvertime ? limits.first() : limits.usual());
            }
        }
    }

    private void fail(int master, Ask ask, Duration limit) {
        if (ask.finish()) {
            ask.cancel();
            clerk.failed(master, new NoAnswerException(limit));
        }
    }

    private void stopTimerWhenDone() {
        if (!isAsking && !isAnyPending()) {
            timer.dispose();
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
            limits.contacts().answered(master);
            if (finish()) {
                answers.incrementAndGet();
                Poll.this.heard();
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
