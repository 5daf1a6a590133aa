package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Sends signals to processes. Not on Windows. */
public final class Signals {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration PERIOD = Duration.ofMillis(1);

    private Signals() {}

    /**
     * Pauses a process (SIGSTOP): its connections stay open, and it runs no instruction. On a busy machine its threads may go on
     * for some milliseconds after the signal was sent, so this returns only when all of them stand still.
     *
     * @param pid of the process
     * @throws IllegalStateException if there is no such process, or it still runs ten seconds later
     */
    public static void pause(long pid) {
        send("STOP", pid);
        long begin = System.nanoTime();
        while (!isPaused(pid)) {
            if (System.nanoTime() - begin > LIMIT.toNanos()) {
                throw new IllegalStateException("process %d still runs %s after SIGSTOP".formatted(pid, LIMIT));
            }
            LockSupport.parkNanos(PERIOD.toNanos());
        }
    }

    /**
     * Lets a paused process go on (SIGCONT).
     *
     * @param pid of the process
     * @throws IllegalStateException if there is no such process
     */
    public static void resume(long pid) {
        send("CONT", pid);
    }

    /**
     * Sends a signal.
     *
     * @param name such as {@code HUP}
     * @param pid of the process
     * @throws IllegalStateException if there is no such process
     */
    public static void send(String name, long pid) {
        int code = run(List.of("kill", "-" + name, Long.toString(pid))).exitValue();
        if (code != 0) {
            throw new IllegalStateException("kill -%s %d answered %d".formatted(name, pid, code));
        }
    }

    private static boolean isPaused(long pid) {
        Path threads = Path.of("/proc", Long.toString(pid), "task");
        try {
            if (!Files.isDirectory(threads)) {
                Process ps = run(List.of("ps", "-o", "state=", "-p", Long.toString(pid)));
                return ps.inputReader().lines().allMatch(it -> isPaused(it.strip()));
            }
            try (Stream<Path> all = Files.list(threads)) {
                return all.toList().stream().allMatch(it -> isPaused(state(it)));
            }
        } catch (NoSuchFileException ended) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Also one that has ended. */
    private static boolean isPaused(String state) {
        return state.startsWith("T") || state.startsWith("Z") || state.startsWith("X");
    }

    private static String state(Path thread) {
        try {
            String all = Files.readString(thread.resolve("stat"));
            return all.substring(all.lastIndexOf(')') + 2);
        } catch (IOException ended) { // it alone: the others may run
            return "X";
        }
    }

    private static Process run(List<String> command) {
        try {
            return new ProcessBuilder(command).start().onExit().join();
        } catch (IOException e) {
            throw new UncheckedIOException("this system has no command " + command.get(0), e);
        }
    }
}
