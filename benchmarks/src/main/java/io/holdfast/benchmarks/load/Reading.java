package io.holdfast.benchmarks.load;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * The work and the resources of a process since its start, or between two readings.
 *
 * @param cycles the ended cycles
 * @param nanos the time
 * @param cpuNanos the CPU time of all threads of the process
 * @param bytes the bytes that its Java threads allocated
 * @param switches the context switches of its threads, voluntary and not; 0 on a system without this count
 * @param waits the longest waits since the reading before
 */
public record Reading(long cycles, long nanos, long cpuNanos, long bytes, long switches, Waits.Longest waits) {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Reads this process. */
    static Reading now(long cycles, Waits.Longest waits) {
        long bytes = Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
                .filter(it -> it > 0)
                .sum();
        return new Reading(
                cycles, System.nanoTime(), SYSTEM.getProcessCpuTime(), bytes, ContextSwitches.ofThisProcess(), waits);
    }

    /** Returns the difference to an earlier reading. */
    public Reading since(Reading earlier) {
        return new Reading(
                cycles - earlier.cycles,
                nanos - earlier.nanos,
                cpuNanos - earlier.cpuNanos,
                bytes - earlier.bytes,
                switches - earlier.switches,
                waits);
    }

    String toText() {
        return "%d %d %d %d %d %d %d"
                .formatted(cycles, nanos, cpuNanos, bytes, switches, waits.cycleNanos(), waits.pauseNanos());
    }

    static Reading parse(String text) {
        long[] numbers =
                Arrays.stream(text.split(" ", -1)).mapToLong(Long::parseLong).toArray();
        return new Reading(
                numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], new Waits.Longest(numbers[5], numbers[6]));
    }
}
