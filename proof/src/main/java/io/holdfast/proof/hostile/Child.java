package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A child process. It ends when this process ends for any reason, even if the child is frozen then. This class kills, freezes and wakes it, and
 * exchanges lines with it.
 */
public final class Child implements Participant {

    /**
     * The shell becomes the program, so that the program has the process id of the child. It leaves a guard that kills the program when the parent has
     * ended: a frozen process cannot check that itself. The guard polls once a second, since no event signals the end of the parent.
     */
    private static final String GUARDED = """
            parent=$PPID; me=$$
            (while kill -0 $parent && kill -0 $me; do sleep 1; done
             kill -0 $parent || kill -9 $me) </dev/null >/dev/null 2>&1 &
            exec "$@"
            """;

    private static final Set<Child> LIVING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> LIVING.forEach(Child::close), "children-killer"));
    }

    private final String name;
    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private Child(String name, Process process) {
        this.name = name;
        this.process = process;
    }

    /** Starts any program. Its standard error goes to the file. */
    public static Child start(String name, List<String> program, Path complaints) {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", GUARDED, "holdfast-" + name));
        command.addAll(program);
        try {
            Child child = new Child(
                    name,
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.appendTo(complaints.toFile()))
                            .start());
            LIVING.add(child);
            Thread reader = new Thread(child::read, "output of " + name);
            reader.setDaemon(true);
            reader.start();
            return child;
        } catch (IOException e) {
            throw new UncheckedIOException(name + " cannot be started", e);
        }
    }

    /** Starts another JVM with the same class path and a small heap. */
    public static Child java(
            String name, Class<?> main, List<String> options, List<String> arguments, Path complaints) {
        List<String> program = new ArrayList<>();
        program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        program.addAll(List.of("-Xmx128m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        program.addAll(options);
        program.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        program.addAll(arguments);
        return start(name, program, complaints);
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                lines.add(line);
            }
        } catch (IOException streamClosed) {
            // The process has ended, and its pipe is closed.
        }
    }

    /** Returns the process id. */
    public long pid() {
        return process.pid();
    }

    @Override
    public String name() {
        return name;
    }

    /** Returns whether the process runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public @Nullable String line(Duration within) throws InterruptedException {
        return lines.poll(within.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void tell(String word) {
        try {
            Writer input = process.outputWriter(StandardCharsets.UTF_8);
            input.write(word + "\n");
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " does not listen", e);
        }
    }

    /** Sends SIGSTOP: the process runs no instruction until SIGCONT. */
    void freeze() {
        signal(Signals::pause);
    }

    /** Sends SIGCONT. */
    void wake() {
        signal(Signals::resume);
    }

    private void signal(LongConsumer signal) {
        try {
            signal.accept(process.pid());
        } catch (IllegalStateException e) {
            if (process.isAlive()) {
                throw e;
            }
        }
    }

    /** Sends SIGKILL. Returns when the process has ended. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
        LIVING.remove(this);
    }

    @Override
    public String toString() {
        return "%s (%d)".formatted(name, process.pid());
    }
}
