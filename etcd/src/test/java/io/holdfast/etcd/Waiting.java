package io.holdfast.etcd;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** Waits on the thread of a test, with a bound. */
public final class Waiting {

    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private Waiting() {}

    @CanIgnoreReturnValue
    public static <T> T forMono(Mono<T> mono) {
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

    public static void until(String what, BooleanSupplier condition) {
        until(what, PATIENCE, condition);
    }

    public static void until(String what, Duration patience, BooleanSupplier condition) {
        long end = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within %s: %s".formatted(patience, what));
            }
            pass(Duration.ofMillis(5));
        }
    }

    public static <T> T untilSome(String what, Supplier<T> value) {
        Object[] found = new Object[1];
        until(what, () -> (found[0] = value.get()) != null);
        @SuppressWarnings("unchecked")
        T some = (T) found[0];
        return some;
    }

    /** Waits for real: a test cannot advance the time of a real server. */
    public static void pass(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
