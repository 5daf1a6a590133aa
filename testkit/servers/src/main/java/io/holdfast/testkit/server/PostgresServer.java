package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real PostgreSQL on a free port, with an empty database. It ends with {@link #close} or with this JVM.
 *
 * <p>It runs {@code postgres} from the directory that the system property {@value #BINARIES} names, or else from the
 * binaries of Maven Central. PostgreSQL refuses to run as root: then it runs as the user {@code nobody}, by
 * {@code setpriv}.
 *
 * <p>Its methods block, and may be called from any thread, one at a time.
 */
public final class PostgresServer implements SqlServer {

    /** The system property that names a directory with {@code initdb} and {@code postgres}: {@value}. */
    public static final String BINARIES = "holdfast.postgres.bin";

    /** The only user, with all rights and without a password. */
    public static final String USER = "postgres";

    /** The database of a new server. */
    public static final String DATABASE = "postgres";

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final PostgresBinaries binaries;
    private final Path directory;
    private final int port;
    private final List<String> settings;
    private final Thread atExit;

    /** Null while stopped. */
    private @Nullable Process process;

    private PostgresServer(PostgresBinaries binaries, Path directory, int port, List<String> settings) {
        this.binaries = binaries;
        this.directory = directory;
        this.port = port;
        this.settings = settings;
        atExit = new Thread(this::end, "holdfast-postgres-end");
    }

    /**
     * Starts a server.
     *
     * @param settings for example {@code fsync=off}
     * @return a server that answers
     * @throws IllegalStateException if the server cannot be started
     */
    public static PostgresServer run(String... settings) {
        PostgresBinaries binaries = PostgresBinaries.find();
        try {
            Path directory = binaries.newDirectory("holdfast-postgres");
            binaries.run(
                    directory,
                    LIMIT,
                    "initdb",
                    "-D",
                    directory.resolve("data").toString(),
                    "-U",
                    USER,
                    "-E",
                    "UTF8",
                    "--locale=C",
                    "-A",
                    "trust",
                    "--no-sync");
            PostgresServer server = new PostgresServer(binaries, directory, FreePorts.next(), List.of(settings));
            Runtime.getRuntime().addShutdownHook(server.atExit);
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Starts a replica that follows this server asynchronously. This server is stopped and started meanwhile.
     *
     * @return a server with the same data that takes no writes until {@code pg_promote()}; the caller closes it
     * @throws IllegalStateException if it cannot be started
     */
    public PostgresServer replica() {
        try {
            PostgresServer replica = new PostgresServer(
                    binaries, binaries.newDirectory("holdfast-postgres-replica"), FreePorts.next(), settings);
            Runtime.getRuntime().addShutdownHook(replica.atExit);
            replica.follow(this);
            return replica;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Deletes the data of this server, and makes it follow another server asynchronously, at the same port. The other
     * server is stopped and started meanwhile.
     *
     * @param primary the server to follow; it stays a primary
     * @throws IllegalStateException if it cannot be started
     */
    public void follow(PostgresServer primary) {
        kill();
        primary.stop();
        Path data = directory.resolve("data");
        TemporaryFiles.delete(data);
        try {
            binaries.copy(primary.directory.resolve("data"), data);
            binaries.own(Files.createFile(data.resolve("standby.signal")));
            Path unused = Files.writeString(
                    data.resolve("postgresql.auto.conf"),
                    "primary_conninfo = 'host=%s port=%d user=%s'%n".formatted(host(), primary.port, USER),
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        primary.start();
        start();
    }

    @Override
    public void start() {
        List<String> arguments = new ArrayList<>(List.of(
                "-D",
                directory.resolve("data").toString(),
                "-p",
                Integer.toString(port),
                "-k",
                directory.toString(),
                "-c",
                "listen_addresses=127.0.0.1"));
        for (String setting : settings) {
            arguments.add("-c");
            arguments.add(setting);
        }
        process = binaries.serve(directory, arguments);
        awaitAnswer(process);
    }

    @Override
    public void stop() {
        signal("INT");
    }

    @Override
    public void crash() {
        signal("QUIT");
    }

    /** Kills the server and all its processes at once (SIGKILL). The next start recovers. Not on Windows. */
    public void kill() {
        Process running = process;
        if (running == null) {
            return;
        }
        // A stopped first process starts no others.
        pause();
        List<ProcessHandle> all = processes(running);
        binaries.signalAll(pids(all), "KILL");
        awaitEnd(running);
        all.forEach(it -> it.onExit().join());
    }

    /** Pauses the server and all its processes at any point of their work (SIGSTOP). Not on Windows. */
    public void pause() {
        signalAll("STOP");
        // Pauses the processes that it has started in between.
        signalAll("STOP");
    }

    /** Resumes the server after {@link #pause}. */
    public void resume() {
        signalAll("CONT");
    }

    private void signalAll(String name) {
        Process running = process;
        if (running != null) {
            binaries.signalAll(pids(processes(running)), name);
        }
    }

    private static List<ProcessHandle> processes(Process running) {
        return Stream.concat(Stream.of(running.toHandle()), running.children()).toList();
    }

    private static List<Long> pids(List<ProcessHandle> processes) {
        return processes.stream().map(ProcessHandle::pid).toList();
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
    public String log() {
        return binaries.log(directory);
    }

    /**
     * Returns the id of its first process, which starts one for each connection.
     *
     * @return a process id
     * @throws IllegalStateException while the server is stopped
     */
    public long pid() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("PostgreSQL is stopped");
        }
        return running.pid();
    }

    @Override
    public void close() {
        crash();
        boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        TemporaryFiles.delete(directory);
    }

    private void signal(String name) {
        Process running = process;
        if (running == null) {
            return;
        }
        binaries.signal(running.pid(), name);
        awaitEnd(running);
    }

    private void awaitEnd(Process running) {
        try {
            if (!running.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("PostgreSQL did not end within " + LIMIT);
            }
            process = null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while PostgreSQL ended", e);
        }
    }

    /** Resumes first: a paused process cannot react to a signal. */
    private void end() {
        resume();
        crash();
        TemporaryFiles.delete(directory);
    }

    private void awaitAnswer(Process started) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!isReady()) {
            if (!started.isAlive() || System.nanoTime() - end > 0) {
                throw new IllegalStateException("PostgreSQL did not start: " + log());
            }
            waitABit();
        }
    }

    /** The status line says "ready" once the server takes connections. */
    private boolean isReady() {
        try (Socket socket = new Socket(InetAddress.getByName(host()), port)) {
            List<String> status = Files.readAllLines(directory.resolve("data").resolve("postmaster.pid"));
            return socket.isConnected()
                    && status.size() >= 8
                    && Set.of("ready", "standby").contains(status.get(7).trim());
        } catch (IOException notYet) {
            return false;
        }
    }

    private static void waitABit() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while PostgreSQL started", e);
        }
    }
}
