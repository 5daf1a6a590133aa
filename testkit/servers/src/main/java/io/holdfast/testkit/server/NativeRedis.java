package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code redis-server} as a child process on 127.0.0.1. */
final class NativeRedis implements RedisProcess {

    private static final Duration START_LIMIT = Duration.ofSeconds(20);
    private static final int POLL_MILLIS = 10;

    /** Another process may take the free port before the child process does. */
    private static final int PORT_TRIES = 10;

    /**
     * Becomes the server, so that the server has the process id of the child, and leaves a guard behind. A line in the
     * pipe tells the guard that the JVM stops the server. The end of the pipe without a line means that the JVM is
     * dead: the guard kills the server and removes the files that the first two arguments name. If the server has ended
     * by itself, the JVM closes the pipe too: nothing is left to kill, and the files stay for other servers. The guard
     * ignores the signals of a terminal that closes, as the server does. The script passes the pipe as descriptor 3,
     * since the standard input of a background command is empty.
     */
    private static final String GUARDED = """
            exec 3<&0; files=$1; program=$2; shift 2
            (trap '' HUP INT TERM; read -r stopped <&3 || { kill -9 $$ && rm -rf "$files" "$program"; }) >/dev/null 2>&1 &
            exec "$@" 3<&- </dev/null""";

    private final Path program;
    private final List<String> arguments;
    private final String config;
    private final Map<String, String> environment;
    private final Path folder;
    private final Path log;
    private final Thread killer = new Thread(this::killAndForget, "holdfast-redis-killer");

    /** Written by start and stop; read by the shutdown hook. */
    private volatile @Nullable Process process;

    /** Written by the first start; 0 before. */
    private int port;

    /** Makes a server without a configuration file. */
    NativeRedis(Path program, List<String> arguments) {
        this(program, arguments, "");
    }

    /**
     * Makes a server that is not started yet.
     *
     * @param config the text of its configuration file, which each start writes again; empty for none
     */
    NativeRedis(Path program, List<String> arguments, String config) {
        this(program, arguments, config, Map.of());
    }

    /** Makes a server with environment variables that its guard does not get. */
    NativeRedis(Path program, List<String> arguments, String config, Map<String, String> environment) {
        this.program = program;
        this.arguments = arguments;
        this.config = config;
        this.environment = environment;
        try {
            folder = Files.createTempDirectory("holdfast-redis");
        } catch (IOException e) {
            throw new UncheckedIOException("no folder for a Redis server", e);
        }
        log = folder.resolve("redis.log");
        Runtime.getRuntime().addShutdownHook(killer);
    }

    @Override
    public String host() {
        return "127.0.0.1";
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public OptionalLong pid() {
        Process running = process;
        return running == null ? OptionalLong.empty() : OptionalLong.of(running.pid());
    }

    @Override
    public void start() {
        boolean isFirst = port == 0;
        for (int i = 0; i < PORT_TRIES; i++) {
            port = isFirst ? FreePorts.next() : port;
            if (launch()) {
                return;
            }
        }
        throw new IllegalStateException("%s did not start on port %d: %s".formatted(program, port, said()));
    }

    /** Returns false when the child process ended by itself. */
    private boolean launch() {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", GUARDED, "holdfast-redis"));
        command.addAll(List.of(folder.toString(), RedisChoice.unpackedFolder()));
        if (!environment.isEmpty()) {
            command.add("env");
            environment.forEach((name, value) -> command.add(name + "=" + value));
        }
        command.add(program.toString());
        command.addAll(configFile());
        command.addAll(List.of("--port", Integer.toString(port)));
        command.addAll(List.of("--bind", host(), "--daemonize", "no", "--dir", folder.toString()));
        command.addAll(arguments);
        try {
            Process started = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            process = started;
            return answers(started);
        } catch (IOException e) {
            throw new UncheckedIOException(program + " cannot be run", e);
        }
    }

    private List<String> configFile() {
        if (config.isEmpty()) {
            return List.of();
        }
        try {
            return List.of(
                    Files.writeString(folder.resolve("redis.conf"), config).toString());
        } catch (IOException e) {
            throw new UncheckedIOException("no configuration file for a Redis server", e);
        }
    }

    private boolean answers(Process started) {
        long startNanos = System.nanoTime();
        while (System.nanoTime() - startNanos < START_LIMIT.toNanos()) {
            if (!started.isAlive()) {
                return false;
            }
            if (isRedisThere()) {
                // The server of another process may listen on this port; the child has ended then.
                return !exited(started, POLL_MILLIS);
            }
            if (exited(started, POLL_MILLIS)) {
                return false;
            }
        }
        stop();
        throw new IllegalStateException(
                "%s did not answer on port %d within %s: %s".formatted(program, port, START_LIMIT, said()));
    }

    private boolean isRedisThere() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host(), port), 1000);
            socket.setSoTimeout(1000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            int first = socket.getInputStream().read();
            return first == '+' || first == '-';
        } catch (IOException notYet) {
            return false;
        }
    }

    private static boolean exited(Process started, long withinMillis) {
        try {
            return started.waitFor(withinMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while Redis started", e);
        }
    }

    @Override
    public void stop() {
        Process running = process;
        process = null;
        if (running != null) {
            signalGuard(running);
            running.destroyForcibly();
            running.onExit().join();
        }
    }

    private static void signalGuard(Process running) {
        try (OutputStream pipe = running.getOutputStream()) {
            pipe.write('\n');
        } catch (IOException guardHasEnded) {
            // The guard has ended already.
        }
    }

    /** Called when the JVM exits normally. */
    private void killAndForget() {
        stop();
        deleteFiles();
    }

    @Override
    public void pause() {
        Signals.pause(runningPid());
    }

    @Override
    public void resume() {
        Signals.resume(runningPid());
    }

    private long runningPid() {
        return pid().orElseThrow(() -> new IllegalStateException("this Redis is stopped"));
    }

    @Override
    public void close() {
        stop();
        try {
            Runtime.getRuntime().removeShutdownHook(killer);
            deleteFiles();
        } catch (IllegalStateException goingDown) {
            // The shutdown hook deletes them.
        }
    }

    /** A cluster or a sentinel keeps its state in files, an append-only server in a folder. */
    private void deleteFiles() {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException leftBehind) {
            // Does not matter to a test.
        }
    }

    private String said() {
        try {
            return Files.readString(log).strip();
        } catch (IOException e) {
            return "and left no log";
        }
    }

    @Override
    public String toString() {
        return program + " at port " + port;
    }
}
