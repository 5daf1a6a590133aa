package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * Runs the programs of PostgreSQL. PostgreSQL refuses to run as root: then the programs run as a system user without
 * rights.
 */
final class PostgresBinaries {

    /** The system user and the group that have no rights on any Unix. */
    private static final String UNPRIVILEGED_ID = "65534";

    private static final boolean IS_WINDOWS = System.getProperty("os.name").startsWith("Windows");

    /**
     * Becomes the program, so that the program has the process id of the child. It leaves a guard behind, which checks
     * once a second whether the JVM is alive. When the JVM has ended, the guard kills the server with its children,
     * which may be stopped and unable to react, and removes the directory of the first argument. The guard is not a
     * child of the server, because the server would wait for it.
     */
    private static final String GUARDED = """
            parent=$PPID; me=$$; files=$1; shift
            ( (trap '' HUP INT TERM
               while kill -0 $parent && kill -0 $me; do sleep 1; done
               kill -0 $parent || {
                 kill -STOP $me; kill -9 $(ps -o pid= --ppid $me) $me; rm -rf "$files"; }) </dev/null >/dev/null 2>&1 & )
            exec "$@"
            """;

    /** Unpacked once per JVM; guarded by the class. */
    private static @Nullable Path unpacked;

    private final Path bin;
    private final boolean isRoot;

    private PostgresBinaries(Path bin) {
        this.bin = bin;
        isRoot = !IS_WINDOWS && "root".equals(System.getProperty("user.name"));
    }

    static PostgresBinaries find() {
        String given = System.getProperty(PostgresServer.BINARIES);
        return new PostgresBinaries(given == null ? unpacked().resolve("bin") : Path.of(given));
    }

    private static synchronized Path unpacked() {
        if (unpacked == null) {
            try {
                Path to = Files.createTempDirectory("holdfast-postgres-bin");
                unpack(to);
                unpacked = to;
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(() -> TemporaryFiles.delete(to), "holdfast-postgres-bin-end"));
            } catch (IOException e) {
                throw new UncheckedIOException("could not unpack PostgreSQL", e);
            }
        }
        return unpacked;
    }

    private static void unpack(Path to) throws IOException {
        try (InputStream packed = PostgresBinaries.class.getResourceAsStream("/" + archive())) {
            if (packed == null) {
                throw new IllegalStateException("there are no binaries of PostgreSQL for this machine (%s): give %s"
                        .formatted(archive(), PostgresServer.BINARIES));
            }
            TarArchiveInputStream archive = new TarArchiveInputStream(new XZInputStream(packed));
            for (TarArchiveEntry entry = archive.getNextEntry(); entry != null; entry = archive.getNextEntry()) {
                Path file = to.resolve(entry.getName()).normalize();
                if (!file.startsWith(to)) {
                    throw new IOException("an entry leaves the archive: " + entry.getName());
                }
                unpack(entry, archive, file);
            }
        }
        allowAll(to);
    }

    private static void unpack(TarArchiveEntry entry, InputStream content, Path file) throws IOException {
        if (entry.isDirectory()) {
            Files.createDirectories(file);
            allowAll(file);
            return;
        }
        Files.createDirectories(file.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
            return;
        }
        Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
        allowAll(file);
    }

    /** The system user that runs the program may not be the owner of the file. */
    private static void allowAll(Path file) throws IOException {
        if (!IS_WINDOWS) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    private static String archive() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch");
        String name = system.startsWith("mac") ? "darwin" : system.startsWith("windows") ? "windows" : "linux";
        String word = machine.equals("aarch64") ? "arm_64" : "x86_64";
        return "postgres-%s-%s.txz".formatted(name, word);
    }

    /** Makes an empty directory for the system user that runs PostgreSQL. */
    Path newDirectory(String prefix) throws IOException {
        Path directory = Files.createTempDirectory(prefix);
        own(directory);
        return directory;
    }

    /** Copies a file, or a directory with its contents, for the system user that runs PostgreSQL. */
    void copy(Path from, Path to) throws IOException {
        try (var files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
                own(copy);
            }
        }
    }

    /** Gives a file to the system user that runs PostgreSQL. */
    void own(Path file) throws IOException {
        if (isRoot) {
            int user = Integer.parseInt(UNPRIVILEGED_ID);
            Files.setAttribute(file, "unix:uid", user);
            Files.setAttribute(file, "unix:gid", user);
        }
    }

    void run(Path directory, Duration limit, String program, String... arguments) {
        Process process = start(directory, program, List.of(arguments));
        try {
            if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("%s failed: %s".formatted(program, log(directory)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while %s ran".formatted(program), e);
        }
    }

    private Process start(Path directory, String program, List<String> arguments) {
        return begin(directory, new ArrayList<>(), program, arguments);
    }

    /** Starts the server. It ends with this JVM, even if the JVM is killed. */
    Process serve(Path directory, List<String> arguments) {
        List<String> guard = new ArrayList<>();
        if (!IS_WINDOWS) {
            guard.addAll(List.of("/bin/sh", "-c", GUARDED, "holdfast-postgres", directory.toString()));
        }
        return begin(directory, guard, "postgres", arguments);
    }

    private Process begin(Path directory, List<String> command, String program, List<String> arguments) {
        if (isRoot) {
            command.addAll(
                    List.of("setpriv", "--reuid=" + UNPRIVILEGED_ID, "--regid=" + UNPRIVILEGED_ID, "--clear-groups"));
        }
        command.add(bin.resolve(program).toString());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log").toFile()));
        try {
            return builder.start();
        } catch (IOException e) {
            throw new IllegalStateException("could not start " + program, e);
        }
    }

    /** Sends a signal by its name in PostgreSQL's manual: INT is a fast end, QUIT a crash. */
    void signal(long pid, String name) {
        if (IS_WINDOWS) {
            run(List.of(bin.resolve("pg_ctl").toString(), "kill", name, Long.toString(pid)));
        } else {
            signalAll(List.of(pid), name);
        }
    }

    /**
     * Sends any signal to several processes, in this order. A process that has ended does not matter. Windows has no
     * signals.
     */
    void signalAll(List<Long> pids, String name) {
        if (IS_WINDOWS) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        pids.forEach(pid -> command.add(Long.toString(pid)));
        run(command);
    }

    private static void run(List<String> command) {
        try {
            boolean unused = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor(10, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    String log(Path directory) {
        try {
            return Files.readString(directory.resolve("log"), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "no log: " + e.getMessage();
        }
    }
}
