package io.holdfast.zookeeper.vertx;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;

/** Waits on the thread of a test, with a bound. */
final class Waiting {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    private Waiting() {}

    @CanIgnoreReturnValue
    static <T> T forMono(Mono<T> mono) {
        try {
            return mono.toFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw new AssertionError(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("no answer within " + PATIENCE, e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within %s: %s".formatted(PATIENCE, what));
            }
            LockSupport.parkNanos(5_000_000);
        }
    }
}
