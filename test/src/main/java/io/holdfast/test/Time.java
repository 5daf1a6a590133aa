package io.holdfast.test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.InvocationInterceptor.Invocation;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The time of a test. */
sealed interface Time permits RealTime, VirtualTime {

    /** Returns the clock of the back end and the clients. */
    Scheduler scheduler();

    /** Called when a test begins. */
    void begin();

    /** Called when it has ended. */
    void end();

    /** Lets time pass, and runs the tasks that become due. */
    void advance(Duration time);

    /** Runs the tasks that are due now, if no other thread does. */
    void settle();

    /** Returns how long to wait, in real time, for another thread. */
    Duration patience();

    /**
     * Waits for the result.
     *
     * @param waits returns what the code under test waits for at that moment, for the message if there is no result;
     *     may be empty
     */
    <T> @Nullable T await(Mono<T> mono, Supplier<String> waits);

    /** Waits until the closing of a client ends: it may have to repeat a release. */
    void finish(Mono<Void> closing);

    /** Runs a method of a test class. */
    <T> T run(Invocation<T> method) throws Throwable;

    /** Returns the outcome of a completed future. */
    static <T> @Nullable T outcome(CompletableFuture<T> done) {
        try {
            return done.join();
        } catch (CompletionException failure) {
            throw Exceptions.propagate(failure.getCause() == null ? failure : failure.getCause());
        }
    }
}
