package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Polls for a state that no event signals. */
public final class Await {

    private Await() {}

    public static void until(String what, Duration limit, Duration pause, BooleanSupplier condition)
            throws InterruptedException {
        Boolean unused =
                some(what, limit, pause, () -> condition.getAsBoolean() ? Optional.of(true) : Optional.empty());
    }

    public static <T> T some(String what, Duration limit, Duration pause, Supplier<Optional<T>> reading)
            throws InterruptedException {
        long startNanos = System.nanoTime();
        while (true) {
            Optional<T> found = reading.get();
            if (found.isPresent()) {
                return found.get();
            }
            if (System.nanoTime() - startNanos > limit.toNanos()) {
                throw new IllegalStateException("not within %s: %s".formatted(limit, what));
            }
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
        }
    }
}
