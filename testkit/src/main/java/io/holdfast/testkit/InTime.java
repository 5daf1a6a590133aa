package io.holdfast.testkit;

import java.time.Duration;

/**
 * Runs a scenario that holds only while a lease lasts, on a real clock: on a busy machine, the lease may expire too
 * early. If a scenario fails after more than its time, the result means nothing, and it runs again. If it fails within
 * its time, the test fails.
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
