package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A fault that is being injected.
 *
 * @param time how long it is to last
 * @param choice see {@link Plan.Planned}
 */
record Strike(Duration time, int choice) {

    /** How a fault is injected and repaired: returns when the world is as it was. */
    @FunctionalInterface
    interface Fault {
        void inject(Strike strike) throws InterruptedException;
    }

    <T> T oneOf(List<T> all) {
        return all.get(choice % all.size());
    }

    /** Another choice, which does not follow from that of {@link #oneOf}. */
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
