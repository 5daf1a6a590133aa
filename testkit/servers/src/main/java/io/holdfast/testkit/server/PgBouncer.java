package io.holdfast.testkit.server;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * PgBouncer in front of a PostgreSQL of this machine: the program that the system property {@value #PROGRAM} names, or
 * else of the PATH, and an image for a Docker engine. Its methods block, and may be called from any thread, one at a
 * time.
 */
public final class PgBouncer implements AutoCloseable {

    /** The system property that names the program: {@value}. */
    public static final String PROGRAM = "holdfast.pgbouncer";

    /** The system property or environment variable that names the image: {@value}. */
    public static final String IMAGE = "PGBOUNCER_IMAGE";

    private static final String USUAL_IMAGE = "edoburu/pgbouncer:v1.24.1-p1";

    private static final String CONFIGURATION = "/etc/pgbouncer/";

    private static final Pattern VERSION = Pattern.compile("process up: PgBouncer (\\d+)\\.(\\d+)");

    private final int port;
    private final Supplier<String> log;
    private final Runnable end;

    private PgBouncer(int port, Supplier<String> log, Runnable end) {
        this.port = port;
        this.log = log;
        this.end = end;
    }

    /**
     * Returns the available programs and images; {@link LeftOut} reports the others.
     *
     * @return paths of programs, and names of images, for {@link #run}
     */
    public static List<String> available() {
        List<String> found = new ArrayList<>(program());
        if (found.isEmpty()) {
            LeftOut.tell("PgBouncer", "there is no pgbouncer on the PATH; put one there, or name it by -D" + PROGRAM);
        }
        String given = System.getProperty(IMAGE, System.getenv(IMAGE));
        String image = given == null ? USUAL_IMAGE : given;
        if (DatabaseImages.isThere(image, IMAGE)) {
            found.add(image);
        }
        return found;
    }

    private static List<String> program() {
        String given = System.getProperty(PROGRAM);
        if (given != null) {
            return List.of(given);
        }
        String places = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/sbin";
        return Stream.of(places.split(File.pathSeparator, -1))
                .filter(it -> !it.isEmpty())
                .map(it -> Path.of(it, "pgbouncer"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .limit(1)
                .toList();
    }

    /**
     * Starts PgBouncer.
     *
     * @param which one of {@link #available}
     * @param postgres a server on this machine
     * @param mode {@code session} or {@code transaction}
     * @return a server that answers
     */
    public static PgBouncer run(String which, SqlServer postgres, String mode) {
        int port = FreePorts.next();
        PgBouncer bouncer =
                which.startsWith("/") ? program(which, postgres, port, mode) : image(which, postgres, port, mode);
        try {
            PlainQuestion.await("PgBouncer answers", () -> isThere(port));
            return bouncer;
        } catch (IllegalStateException late) {
            String log = bouncer.log.get();
            bouncer.close();
            throw new IllegalStateException(late.getMessage() + ": " + log, late);
        }
    }

    private static String settings(SqlServer postgres, int port, String mode, String users) {
        return """
                [databases]
                * = host=%s port=%d user=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                auth_file = %s
                pool_mode = %s
                ignore_startup_parameters = extra_float_digits
                """.formatted(postgres.host(), postgres.port(), PostgresServer.USER, port, users, mode);
    }

    private static String users() {
        return "\"%s\" \"\"\n".formatted(PostgresServer.USER);
    }

    private static PgBouncer program(String program, SqlServer postgres, int port, String mode) {
        try {
            Path directory = Files.createTempDirectory("holdfast-pgbouncer");
            Path users = Files.writeString(directory.resolve("users"), users());
            Path settings =
                    Files.writeString(directory.resolve("settings"), settings(postgres, port, mode, users.toString()));
            Path log = directory.resolve("log");
            Path unused = Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            List<String> command = new ArrayList<>();
            if ("root".equals(System.getProperty("user.name"))) {
                command.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
            }
            command.addAll(List.of(program, settings.toString()));
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            return new PgBouncer(port, () -> read(log), () -> {
                process.destroyForcibly().onExit().join();
                TemporaryFiles.delete(directory);
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs in the network of this machine, where PostgreSQL listens. So it needs a Docker engine on Linux. */
    private static PgBouncer image(String image, SqlServer postgres, int port, String mode) {
        String users = CONFIGURATION + "userlist.txt";
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withNetworkMode("host")
                .withCopyToContainer(text(settings(postgres, port, mode, users)), CONFIGURATION + "pgbouncer.ini")
                .withCopyToContainer(text(users()), users);
        container.start();
        return new PgBouncer(port, container::getLogs, container::stop);
    }

    private static Transferable text(String content) {
        return Transferable.of(content.getBytes(StandardCharsets.UTF_8), 0644);
    }

    private static boolean isThere(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    /**
     * Returns the port on this machine.
     *
     * @return a port
     */
    public int port() {
        return port;
    }

    /**
     * Returns whether PgBouncer prepares the statements of one client in other sessions too, which hides that sessions
     * are shared: from 1.21 on.
     *
     * @return the answer by the version in its log
     */
    public boolean knowsPreparedStatements() {
        Matcher version = VERSION.matcher(log.get());
        if (!version.find()) {
            throw new IllegalStateException("PgBouncer does not tell its version: " + log.get());
        }
        return Integer.parseInt(version.group(1)) > 1 || Integer.parseInt(version.group(2)) >= 21;
    }

    @Override
    public void close() {
        end.run();
    }
}
