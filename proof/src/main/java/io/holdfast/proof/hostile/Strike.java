package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A fault that is being injected.
 *
 * @param time how long it lasts
 * @param choice see {@link Plan.Planned}
 */
record Strike(Duration time, int choice) {

    /** Injects a fault and repairs it. Returns after the repair. */
    @FunctionalInterface
    interface Fault {
        void inject(Strike strike) throws InterruptedException;
    }

    <T> T oneOf(List<T> all) {
        return all.get(choice % all.size());
    }

    /** Makes another choice, which does not depend on that of {@link #oneOf}. */
    int other(int bound) {
        return choice / 1_000 % bound;
    }

    void last() throws InterruptedException {
        last(time);
    }

    static void last(Duration time) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }
}
