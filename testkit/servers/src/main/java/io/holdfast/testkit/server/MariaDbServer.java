package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A real MariaDB or MySQL on a free port, with an empty database. It ends with {@link #close} or with this JVM.
 *
 * <p>A system property names the program. Without it, MariaDB runs from Maven Central, or else from the PATH. MySQL is
 * not in Maven Central: without a {@code mysqld} on the machine there is no MySQL.
 *
 * <p>Its methods block, and may be called from any thread, one at a time.
 */
public final class MariaDbServer implements SqlServer {

    /** The system property that names the program of MariaDB: {@value}. */
    public static final String MARIADB = "holdfast.mariadbd";

    /** The system property that names the program of MySQL: {@value}. */
    public static final String MYSQL = "holdfast.mysqld";

    /** The user, with all rights and without a password. */
    public static final String USER = "holdfast";

    /** The database of a new server. */
    public static final String DATABASE = "holdfast";

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** The first statements of a new server. */
    static final String INITIAL =
            "create database if not exists %s;\ncreate user if not exists '%s'@'%%';\ngrant all on *.* to '%s'@'%%' with grant option;\n"
                    .formatted(DATABASE, USER, USER);

    private final MariaDbPrograms programs;
    private final Path directory;
    private final int port;
    private final List<String> settings;
    private final Thread atExit;

    /** Null while stopped. */
    private @Nullable Process process;

    private MariaDbServer(MariaDbPrograms programs, Path directory, List<String> settings) {
        this.programs = programs;
        this.directory = directory;
        this.settings = settings;
        port = FreePorts.next();
        atExit = new Thread(this::kill, "holdfast-mariadb-end");
    }

    /**
     * Starts MariaDB.
     *
     * @param settings for example {@code innodb_flush_log_at_trx_commit=0}
     * @return a server that answers
     * @throws IllegalStateException if the server cannot be started
     */
    public static MariaDbServer run(String... settings) {
        return run(MariaDbPrograms.mariaDb(), settings);
    }

    /**
     * Starts MySQL.
     *
     * @param settings for example {@code innodb_flush_log_at_trx_commit=0}
     * @return a server that answers; empty when this machine has no MySQL
     * @throws IllegalStateException if the server cannot be started
     */
    public static Optional<MariaDbServer> runMySql(String... settings) {
        return MariaDbPrograms.mySql().map(it -> run(it, settings));
    }

    private static MariaDbServer run(MariaDbPrograms programs, String... settings) {
        try {
            Path directory = Files.createTempDirectory("holdfast-mariadb");
            MariaDbServer server = new MariaDbServer(programs, directory, List.of(settings));
            Runtime.getRuntime().addShutdownHook(server.atExit);
            server.initialize();
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void initialize() throws IOException {
        if (!programs.isMySql()) {
            Files.createDirectories(data().resolve("mysql"));
        }
        Files.writeString(directory.resolve("init.sql"), INITIAL);
        Process making = begin(programs.initialize(data()), ProcessBuilder.Redirect.PIPE);
        try (OutputStream statements = making.getOutputStream()) {
            statements.write(programs.initialStatements().getBytes(StandardCharsets.UTF_8));
        }
        if (!ends(making) || making.exitValue() != 0) {
            throw new IllegalStateException("the tables of the server could not be made: " + log());
        }
    }

    private Path data() {
        return directory.resolve("data");
    }

    private Process begin(List<String> command, ProcessBuilder.Redirect input) {
        try {
            return new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectInput(input)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            directory.resolve("log").toFile()))
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException("could not start " + programs.program(), e);
        }
    }

    @Override
    public void start() {
        List<String> command = programs.command(data());
        command.addAll(List.of(
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--skip-name-resolve",
                "--socket=" + directory.resolve("socket"),
                "--pid-file=" + directory.resolve("pid"),
                "--init-file=" + directory.resolve("init.sql")));
        // No TLS: to make a key at each start takes seconds.
        command.addAll(
                programs.isMySql()
                        ? List.of("--mysqlx=OFF", "--secure-file-priv=NULL", "--auto-generate-certs=OFF")
                        : List.of("--skip-ssl", "--innodb-buffer-pool-dump-at-shutdown=OFF"));
        settings.forEach(it -> command.add("--" + it));
        process = begin(command, ProcessBuilder.Redirect.PIPE);
        awaitAnswer(process);
    }

    @Override
    public void stop() {
        end(Process::destroy);
    }

    @Override
    public void crash() {
        end(Process::destroyForcibly);
    }

    private void end(Consumer<Process> how) {
        Process running = process;
        if (running == null) {
            return;
        }
        how.accept(running);
        if (!ends(running)) {
            throw new IllegalStateException("the server did not end within " + LIMIT);
        }
        process = null;
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
    public void close() {
        crash();
        boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        TemporaryFiles.delete(directory);
    }

    private void kill() {
        Process running = process;
        if (running != null) {
            running.destroyForcibly();
        }
        TemporaryFiles.delete(directory);
    }

    private void awaitAnswer(Process started) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!ReadyServer.greets(host(), port, LIMIT)) {
            if (!started.isAlive() || System.nanoTime() - end > 0) {
                throw new IllegalStateException("the server did not start: " + log());
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while the server started", e);
            }
        }
    }

    private static boolean ends(Process running) {
        try {
            return running.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the server ended", e);
        }
    }

    @Override
    public String log() {
        try {
            return Files.readString(directory.resolve("log"), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "no log: " + e.getMessage();
        }
    }
}
