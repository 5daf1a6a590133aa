package io.holdfast.benchmarks.model;

/**
 * The result of a simulation.
 *
 * @param scenario what the clients did
 * @param commandsPerSecond the commands that reached the server
 * @param busy processor time of the server for each second; with more than 1, its queue grows for ever
 * @param meanMillis the mean time from the arrival of a command to its answer
 * @param medianMillis half of all commands took at most that
 * @param p99Millis 99 % of all commands took at most that
 * @param maxMillis no command took more
 */
record Outcome(
        Scenario scenario,
        double commandsPerSecond,
        double busy,
        double meanMillis,
        double medianMillis,
        double p99Millis,
        double maxMillis) {

    /** A queue that grows has no stable times. */
    boolean fits() {
        return busy < 1;
    }
}
