package io.holdfast.benchmarks.watch;

import java.util.concurrent.TimeUnit;

/** How an observation lets time pass: it is what it measures by. */
final class Pause {

    private Pause() {}

    static void seconds(int count) {
        millis(TimeUnit.SECONDS.toMillis(count));
    }

    static void millis(long count) {
        try {
            TimeUnit.MILLISECONDS.sleep(count);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
