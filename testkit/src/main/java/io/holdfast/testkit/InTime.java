package io.holdfast.testkit;

import java.time.Duration;

/**
 * For what holds only while a lease lasts, on a real clock: a machine that is busy with something else may let it run out. A scenario that
 * fails after more than its time has shown nothing, and is begun anew. One that fails in time fails.
 */
final class InTime {

    private static final int TRIES = 10;

    private InTime() {}

    static void run(Duration limit, Runnable scenario) {
        for (int i = 1; true; i++) {
            long begun = System.nanoTime();
            try {
                scenario.run();
                return;
            } catch (RuntimeException | AssertionError failure) {
                if (i == TRIES || System.nanoTime() - begun < limit.toNanos()) {
                    throw failure;
                }
            }
        }
    }
}
