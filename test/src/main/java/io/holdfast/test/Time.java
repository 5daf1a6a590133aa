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

/** How time passes in a test. */
sealed interface Time permits RealTime, VirtualTime {

    /** The clock of the store and the clients. */
    Scheduler scheduler();

    /** A test begins. */
    void begin();

    /** It has ended. */
    void end();

    /** Lets time pass, and does what is due. */
    void advance(Duration time);

    /** Does what is due now, where nothing else would. */
    void settle();

    /** How long to wait, in real time, for what another thread is about to do. */
    Duration patience();

    /**
     * The result.
     *
     * @param waits what the code under test waits for at that moment, for the message if there is no result; may be empty
     */
    <T> @Nullable T await(Mono<T> mono, Supplier<String> waits);

    /** Lets the closing of a client end: it may have to repeat a release. */
    void finish(Mono<Void> closing);

    /** Runs a method of a test class. */
    <T> T run(Invocation<T> method) throws Throwable;

    /** The outcome of what is done. */
    static <T> @Nullable T outcome(CompletableFuture<T> done) {
        try {
            return done.join();
        } catch (CompletionException failure) {
            throw Exceptions.propagate(failure.getCause() == null ? failure : failure.getCause());
        }
    }
}
