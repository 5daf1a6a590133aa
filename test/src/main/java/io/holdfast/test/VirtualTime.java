package io.holdfast.test;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.InvocationInterceptor.Invocation;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Time that passes when the test advances it. While a test runs, Reactor's own schedulers use it too. */
final class VirtualTime implements Time {

    private static final Duration STEP = Duration.ofMillis(10);
    private static final Duration LONGEST_AWAITED = Duration.ofHours(1);
    private static final Duration LONGEST_CLOSING = Duration.ofMinutes(1);
    private static final long REAL_PATIENCE_NANOS = Duration.ofSeconds(5).toNanos();
    private static final Duration OTHER_THREADS = Duration.ofMillis(200);

    /** Reactor has one place for a clock. */
    private static final AtomicReference<@Nullable VirtualTime> IN_PLACE = new AtomicReference<>();

    private final VirtualTimeScheduler clock = new TestClock();
    private final Duration stuckAfter;

    /**
     * Makes a time that stands still.
     *
     * @param stuckAfter how long a test may wait, in real time, for an event that only an advance of the time can cause
     */
    VirtualTime(Duration stuckAfter) {
        this.stuckAfter = stuckAfter;
    }

    @Override
    public Scheduler scheduler() {
        return clock;
    }

    @Override
    public void begin() {
        if (!IN_PLACE.compareAndSet(null, this)) {
            throw new IllegalStateException(
                    "another test uses virtual time at this moment, and Reactor has one clock for"
                            + " all threads: run these tests one after another, for example with @Execution(ExecutionMode.SAME_THREAD)"
                            + " or @ResourceLock(\"virtual time\")");
        }
        VirtualTimeScheduler unused = VirtualTimeScheduler.set(clock);
    }

    @Override
    public void end() {
        if (IN_PLACE.compareAndSet(this, null)) {
            VirtualTimeScheduler.reset();
        }
    }

    /** Returns when the time has passed, even if another thread runs the due tasks. */
    @Override
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time does not go back, was " + time);
        }
        CountDownLatch come = new CountDownLatch(1);
        Disposable unused = clock.schedule(come::countDown, time.toNanos(), TimeUnit.NANOSECONDS);
        clock.advanceTimeBy(time);
        if (come.getCount() > 0 && !isInsideATask()) {
            awaitOther(come);
        }
    }

    @Override
    public void settle() {
        advance(Duration.ZERO);
    }

    @Override
    public Duration patience() {
        return OTHER_THREADS;
    }

    @Override
    public <T> @Nullable T await(Mono<T> mono, Supplier<String> waits) {
        CompletableFuture<T> result = mono.toFuture();
        if (!isDone(result, LONGEST_AWAITED)) {
            String why = waits.get();
            result.cancel(true);
            throw new AssertionError("not ended after %s of virtual time%s"
                    .formatted(
                            LONGEST_AWAITED,
                            why.isEmpty() ? "; if it works on threads of its own, use TestLocks.realTime()" : why));
        }
        return Time.outcome(result);
    }

    @Override
    public void finish(Mono<Void> closing) {
        boolean unused = isDone(closing.toFuture(), LONGEST_CLOSING);
    }

    /** Advances the time until the result is there. */
    private boolean isDone(CompletableFuture<?> result, Duration longest) {
        settle();
        for (long left = longest.dividedBy(STEP); left > 0 && !result.isDone(); left--) {
            advance(STEP);
        }
        return result.isDone();
    }

    @Override
    public <T> T run(Invocation<T> method) throws Throwable {
        try (StuckWatch watch =
                StuckWatch.start(Thread.currentThread(), stuckAfter, () -> clock.advanceTimeBy(LONGEST_AWAITED))) {
            T result;
            try {
                result = method.proceed();
            } catch (Throwable thrown) {
                watch.failIfStuck(thrown);
                throw thrown;
            }
            watch.failIfStuck(null);
            return result;
        }
    }

    /** Returns whether a task of the clock advances it: the due tasks then run when that task has ended. */
    private static boolean isInsideATask() {
        String scheduler = VirtualTimeScheduler.class.getName();
        return Arrays.stream(Thread.currentThread().getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(scheduler)
                        && frame.getMethodName().equals("drain"));
    }

    private static void awaitOther(CountDownLatch come) {
        try {
            if (!come.await(REAL_PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
                throw new AssertionError(
                        "another thread has been inside a task of the virtual clock for 5 s: does it block?");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", interrupted);
        }
    }
}
