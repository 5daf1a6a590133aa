package io.holdfast.benchmarks.watch;

import java.util.concurrent.TimeUnit;

/** Sleeps, for observations that measure over a time. */
public final class Pause {

    private Pause() {}

    public static void seconds(int count) {
        millis(TimeUnit.SECONDS.toMillis(count));
    }

    public static void millis(long count) {
        try {
            TimeUnit.MILLISECONDS.sleep(count);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
