package io.holdfast.proof.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Reads the figures of the processes of the soak from /proc of Linux. */
final class Processes {

    /** The names of guards, which wait for the end of the soak. */
    private static final Set<String> GUARDS = Set.of("sh", "dash", "bash", "sleep", "setpriv", "kill");

    private final long clientPid;

    /** The processor time by process; read and written by the thread that samples. */
    private Map<Long, Duration> cpu = new HashMap<>();

    Processes(long clientPid) {
        this.clientPid = clientPid;
    }

    /**
     * The figures of some processes together.
     *
     * @param files open descriptors
     * @param memory in bytes, without the memory that they share with other processes
     * @param cpu the processor time since the last reading
     */
    record Reading(long files, long memory, Duration cpu) {}

    /** Reads the client process, then the servers. A process that is new since the last reading counts from its start. */
    List<Reading> readAll() {
        Map<Long, Duration> now = new HashMap<>();
        List<ProcessHandle> servers = ProcessHandle.current()
                .descendants()
                .filter(process -> process.pid() != clientPid && !isGuard(process.pid()))
                .toList();
        List<ProcessHandle> client = ProcessHandle.of(clientPid).stream().toList();
        List<Reading> readings = List.of(read(client, now), read(servers, now));
        cpu = now;
        return readings;
    }

    private Reading read(List<ProcessHandle> processes, Map<Long, Duration> now) {
        long files = 0;
        long memory = 0;
        Duration used = Duration.ZERO;
        for (ProcessHandle process : processes) {
            files += files(process.pid());
            memory += memory(process.pid());
            Duration total = process.info().totalCpuDuration().orElse(Duration.ZERO);
            now.put(process.pid(), total);
            used = used.plus(total.minus(cpu.getOrDefault(process.pid(), Duration.ZERO)));
        }
        return new Reading(files, memory, used);
    }

    private static boolean isGuard(long pid) {
        return GUARDS.contains(text(pid, "comm").trim());
    }

    private static long files(long pid) {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            return files.count();
        } catch (IOException ended) {
            return 0;
        }
    }

    private static long memory(long pid) {
        return text(pid, "status")
                .lines()
                .filter(line -> line.startsWith("RssAnon:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .sum();
    }

    /** Reads a file of /proc. Returns an empty text for a process that has ended. */
    private static String text(long pid, String file) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), file));
        } catch (IOException ended) {
            return "";
        }
    }
}
