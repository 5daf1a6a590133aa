package io.holdfast.benchmarks.report;

import java.util.Map;

/**
 * One number of one process of a run.
 *
 * @param benchmark what ran, such as {@code RedisUncontended}
 * @param parameters with which it ran
 * @param metric what was measured, such as {@link #THROUGHPUT}
 * @param value in the unit that the metric stands for
 * @param round of the run: within one, everything ran once
 */
public record Sample(String benchmark, Map<String, String> parameters, String metric, double value, int round) {

    /** Cycles per second. */
    public static final String THROUGHPUT = "cycles/s";

    /** Bytes of heap per cycle, by all threads of the process. */
    public static final String ALLOCATION = "bytes/cycle";

    /** CPU of the clients per cycle, by all threads of their processes. */
    public static final String CLIENT_CPU = "client CPU µs/cycle";

    /** CPU of the server per cycle, by all threads of its process. */
    public static final String SERVER_CPU = "server CPU µs/cycle";

    /** How often threads of the clients were put aside per cycle, because they waited or because another thread had its turn. */
    public static final String SWITCHES = "context switches/cycle";

    /** From the subscription to the end of its cycle, of the flow that took longest. */
    public static final String LONGEST_CYCLE = "longest cycle, ms";

    /** For so long no cycle of one of the processes ended, although it had flows that waited. */
    public static final String LONGEST_PAUSE = "longest pause of a process, ms";

    /** Of the process that had the fewest, to that of the one that had the most. */
    public static final String LEAST_SHARE = "cycles of the processes, least to most";

    /** With a copy of the parameters. */
    public Sample {
        parameters = Map.copyOf(parameters);
    }
}
