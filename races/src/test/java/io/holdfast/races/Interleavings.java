package io.holdfast.races;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.Outcome;

/**
 * Runs a race of two threads under the model checker of Lincheck. It decides at each access to shared memory which thread continues, and tries one order
 * after the other: first those with few switches.
 */
public final class Interleavings {

    /** How many orders it tries at most. */
    private static final int MOST = Integer.getInteger("races.interleavings", 60);

    private Interleavings() {}

    /** Fails if an order leads to an outcome that the race of jcstress forbids. */
    public static void explore(Class<?> race, Supplier<Object> round) {
        explore(
                round,
                Arrays.stream(race.getAnnotationsByType(Outcome.class))
                        .filter(it -> it.expect() != Expect.FORBIDDEN)
                        .flatMap(it -> Arrays.stream(it.id()))
                        .toArray(String[]::new));
    }

    /** Fails, and prints the order, if it leads to another outcome than these. */
    public static void explore(Supplier<Object> round, String... allowed) {
        Runnable block = () -> check(round.get().toString(), allowed);
        block.run(); // loads the classes
        try {
            Lincheck.runConcurrentTest(MOST, block);
        } catch (LincheckAssertionError failure) {
            if (!String.valueOf(failure.getMessage()).contains("has hung")) {
                throw failure;
            }
            // On a busy machine it takes a slow round for a deadlock. A real one comes again.
            Lincheck.runConcurrentTest(MOST, block);
        }
    }

    private static void check(String outcome, String[] allowed) {
        for (String one : allowed) {
            if (outcome.equals(one)) {
                return;
            }
        }
        throw new AssertionError("the outcome is '" + outcome + "', allowed are " + List.of(allowed));
    }

    /** Runs both on a thread each, and waits for them. */
    @SuppressWarnings("ThreadJoinLoop") // nothing interrupts it
    public static void together(Runnable one, Runnable other) {
        Thread first = new Thread(one);
        Thread second = new Thread(other);
        first.start();
        second.start();
        try {
            first.join();
            second.join();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }
}
