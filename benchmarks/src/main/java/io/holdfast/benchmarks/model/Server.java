package io.holdfast.benchmarks.model;

import org.HdrHistogram.Histogram;

/** Runs one command after the other, in the order in which they arrive, as Redis does. Times are microseconds of the simulation. */
final class Server {

    private static final long LONGEST_MICROS = 3_600_000_000L;

    private final Histogram times = new Histogram(LONGEST_MICROS, 3);
    private double freeAt;
    private double busy;

    /**
     * Runs one command.
     *
     * @param arrives not before the arrival of the command before
     * @param takes its processor time
     * @return when it has been answered
     */
    double run(double arrives, double takes) {
        freeAt = Math.max(freeAt, arrives) + takes;
        busy += takes;
        times.recordValue(Math.min(LONGEST_MICROS, Math.round(freeAt - arrives)));
        return freeAt;
    }

    /** The processor time of all commands so far. */
    double busy() {
        return busy;
    }

    /** From the arrival of a command to its answer. */
    Histogram times() {
        return times;
    }
}
