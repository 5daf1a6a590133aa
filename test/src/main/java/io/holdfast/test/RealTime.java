package io.holdfast.test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.InvocationInterceptor.Invocation;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The time of the JVM. */
final class RealTime implements Time {

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final long LONGEST_WAIT_SECONDS = 10;

    @Override
    public Scheduler scheduler() {
        return Schedulers.parallel();
    }

    @Override
    public void begin() {}

    @Override
    public void end() {}

    @Override
    public void advance(Duration time) {
        throw new IllegalStateException(
                "time passes by itself here and cannot be advanced: make the extension with TestLocks.virtualTime()");
    }

    @Override
    public void settle() {}

    @Override
    public Duration patience() {
        return PATIENCE;
    }

    @Override
    public <T> @Nullable T await(Mono<T> mono, Supplier<String> waits) {
        CompletableFuture<T> result = mono.toFuture();
        try {
            T unused = result.get(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            String why = waits.get();
            result.cancel(true);
            throw new AssertionError("not ended after %d s%s".formatted(LONGEST_WAIT_SECONDS, why), late);
        } catch (InterruptedException interrupted) {
            result.cancel(true);
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", interrupted);
        } catch (ExecutionException failure) {
            return Time.outcome(result);
        }
        return Time.outcome(result);
    }

    @Override
    public void finish(Mono<Void> closing) {}

    @Override
    public <T> T run(Invocation<T> method) throws Throwable {
        return method.proceed();
    }
}
