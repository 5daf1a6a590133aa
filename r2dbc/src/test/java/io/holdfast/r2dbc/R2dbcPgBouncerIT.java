package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.testkit.server.PostgresServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** PgBouncer, of a version that does not know prepared statements, between client and server. Needs {@code pgbouncer} on the PATH; else it is reported as aborted. */
class R2dbcPgBouncerIT {

    @TempDir
    private Path directory;

    @Test
    void transactionModeIsToldAsTheReason() throws IOException {
        try (Store store = Store.start()) {
            int port = freePort();
            Process bouncer = bouncer(store, port, "transaction");
            R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections(PostgresServer.USER, port));
            R2dbcLockBackend another = R2dbcLockBackend.create(store.connections(PostgresServer.USER, port));
            try {
                run(backend.ping());
                // Of the same server's session: what the first client has prepared is there already.
                assertThatThrownBy(() -> run(another.ping()))
                        .isInstanceOf(LockBackendException.class)
                        .hasMessageContaining("connect to the server directly");
                assertThat(store.leftovers()).isEmpty();
            } finally {
                Store.end(backend);
                Store.end(another);
                bouncer.destroy();
            }
        }
    }

    private Process bouncer(Store store, int port, String mode) throws IOException {
        Optional<Path> program = Stream.of(System.getenv("PATH").split(":", -1), new String[] {"/usr/sbin"})
                .flatMap(Stream::of)
                .map(it -> Path.of(it, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
        Assumptions.assumeTrue(program.isPresent(), "pgbouncer is not on the PATH");
        Path users = Files.writeString(directory.resolve("users"), "\"%s\" \"\"\n".formatted(PostgresServer.USER));
        Path settings = Files.writeString(directory.resolve("settings"), """
                [databases]
                * = host=%s port=%d user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                auth_file = %s
                pool_mode = %s
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        store.server().host(), store.server().port(), port, users, mode));
        Path unused = Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        command.addAll(List.of(program.get().toString(), settings.toString()));
        Process started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        Store.eventually(() -> answers(port));
        return started;
    }

    private static boolean answers(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
