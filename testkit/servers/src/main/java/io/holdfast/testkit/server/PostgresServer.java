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
import org.jspecify.annotations.Nullable;

/**
 * A real PostgreSQL of its own on a free port, with an empty database. It ends with {@link #close} or with this JVM.
 *
 * <p>What runs is {@code postgres} of the directory that the system property {@value #BINARIES} names, or else the binaries that come from
 * Maven Central. PostgreSQL refuses to run as root: then it runs as the user {@code nobody}, by {@code setpriv}.
 *
 * <p>Its methods block, and may be called from any thread, one at a time.
 */
public final class PostgresServer implements SqlServer {

    /** The system property that names a directory with {@code initdb} and {@code postgres}: {@value}. */
    public static final String BINARIES = "holdfast.postgres.bin";

    /** The only user, who may do everything and needs no password. */
    public static final String USER = "postgres";

    /** The database that is there from the start. */
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
        atExit = new Thread(this::kill, "holdfast-postgres-end");
    }

    /**
     * Starts a server.
     *
     * @param settings such as {@code fsync=off}
     * @return a server that answers
     * @throws IllegalStateException if none can be started
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
     * Starts a replica of this server, which it follows asynchronously. This server is stopped and started meanwhile.
     *
     * @return a server with the same data that takes no writes until {@code pg_promote()}; ends by itself
     * @throws IllegalStateException if it cannot be started
     */
    public PostgresServer replica() {
        stop();
        try {
            Path copy = binaries.newDirectory("holdfast-postgres-replica");
            binaries.copy(directory.resolve("data"), copy.resolve("data"));
            binaries.own(Files.createFile(copy.resolve("data").resolve("standby.signal")));
            Path unused = Files.writeString(
                    copy.resolve("data").resolve("postgresql.auto.conf"),
                    "primary_conninfo = 'host=%s port=%d user=%s'%n".formatted(host(), port, USER),
                    StandardOpenOption.APPEND);
            PostgresServer replica = new PostgresServer(binaries, copy, FreePorts.next(), settings);
            Runtime.getRuntime().addShutdownHook(replica.atExit);
            start();
            replica.start();
            return replica;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
        process = binaries.start(directory, "postgres", arguments);
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

    @Override
    public String host() {
        return "127.0.0.1";
    }

    @Override
    public int port() {
        return port;
    }

    /**
     * Its first process, which starts one for each connection.
     *
     * @return a process id
     * @throws IllegalStateException while it is stopped
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
        try {
            binaries.signal(running.pid(), name);
            if (!running.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("PostgreSQL did not end within " + LIMIT);
            }
            process = null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while PostgreSQL ended", e);
        }
    }

    private void kill() {
        Process running = process;
        if (running != null) {
            binaries.signal(running.pid(), "QUIT");
        }
    }

    private void awaitAnswer(Process started) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!isReady()) {
            if (!started.isAlive() || System.nanoTime() - end > 0) {
                throw new IllegalStateException("PostgreSQL did not start: " + binaries.log(directory));
            }
            pause();
        }
    }

    /** Its first line of status says so once it takes connections. */
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

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while PostgreSQL started", e);
        }
    }
}
