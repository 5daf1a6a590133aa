package io.holdfast.benchmarks.model;

import java.util.Locale;

/**
 * The work of all clients.
 *
 * @param name its name in the report
 * @param load the kind of commands that they send
 * @param clients each has a connection of its own
 * @param leases that each client holds; only for {@link Load#HOLD}
 * @param leaseSeconds how long a lease lasts; only for {@link Load#HOLD} and {@link Load#WAIT}
 * @param cyclesPerSecond of each client; only for {@link Load#CYCLE}
 */
record Scenario(String name, Load load, int clients, int leases, int leaseSeconds, double cyclesPerSecond) {

    /** The kinds of commands. */
    enum Load {
        /** Holds leases and renews them. */
        HOLD,
        /** Acquires a lock that is free, works for 20 ms and releases it. */
        CYCLE,
        /** Waits for one lock that stays held. */
        WAIT
    }

    static Scenario hold(int clients, int leases, int leaseSeconds) {
        return new Scenario(
                text("%,d clients hold %,d leases of %d s each", clients, leases, leaseSeconds),
                Load.HOLD,
                clients,
                leases,
                leaseSeconds,
                0);
    }

    static Scenario cycle(int clients, double cyclesPerSecond) {
        return new Scenario(
                text("%,d clients take and release a free lock, %s a second each", clients, times(cyclesPerSecond)),
                Load.CYCLE,
                clients,
                0,
                0,
                cyclesPerSecond);
    }

    static Scenario await(int clients, int leaseSeconds) {
        return new Scenario(
                text("%,d clients wait for one lock, with leases of %d s", clients, leaseSeconds),
                Load.WAIT,
                clients,
                0,
                leaseSeconds,
                0);
    }

    private static String times(double number) {
        return number == 1 ? "once" : number == 2 ? "twice" : text("%.1f times", number);
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
