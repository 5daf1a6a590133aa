package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operations on a PostgreSQL, and their leftovers. */
class PostgresServerIT {

    private static final Duration SOON = Duration.ofSeconds(20);

    /** {@code SSLRequest} of the protocol: the process of the new connection answers it with one letter. */
    private static final byte[] QUESTION = {0, 0, 0, 8, 4, (byte) 210, 22, 47};

    @TempDir
    private Path temporary;

    @Test
    void killedServerHasNoProcessesLeftAndStartsAgain() throws IOException {
        try (PostgresServer server = PostgresServer.run("fsync=off")) {
            List<ProcessHandle> before = processes(server);
            server.kill();
            assertThat(before).hasSizeGreaterThan(1).noneMatch(ProcessHandle::isAlive);
            server.start();
            assertThat(answer(server, SOON)).isEqualTo('N');
        }
    }

    @Test
    void pausedServerAnswersNothingUntilItGoesOn() throws IOException {
        try (PostgresServer server = PostgresServer.run("fsync=off")) {
            server.pause();
            assertThatThrownBy(() -> answer(server, Duration.ofMillis(300)))
                    .isInstanceOf(java.net.SocketTimeoutException.class);
            server.resume();
            assertThat(answer(server, SOON)).isEqualTo('N');
        }
    }

    @Test
    void replicaIsMadeAgainAtItsPort() throws IOException {
        try (PostgresServer primary = PostgresServer.run("fsync=off");
                PostgresServer replica = primary.replica()) {
            int port = replica.port();
            replica.follow(primary);
            assertThat(replica.port()).isEqualTo(port);
            assertThat(answer(replica, SOON)).isEqualTo('N');
            assertThat(answer(primary, SOON)).isEqualTo('N');
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void pausedServerOfAJvmThatEndsIsGoneWithItsFiles(boolean isKilled) throws IOException {
        // PostgreSQL may run as another user.
        Path unused = Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
        Process owner = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        PostgresOwner.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader said = owner.inputReader()) {
            List<ProcessHandle> server = Stream.of(said.readLine().split(" "))
                    .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid)).stream())
                    .toList();
            assertThat(server).hasSizeGreaterThan(1);
            if (isKilled) {
                owner.destroyForcibly();
            } else {
                owner.destroy(); // as Ctrl-C does
            }
            assertThat(server).allSatisfy(it -> assertThat(it.onExit()).succeedsWithin(SOON));
            PlainQuestion.await("the files are gone", this::noServerFiles);
        } finally {
            owner.destroyForcibly();
        }
    }

    /** Ignores the unpacked programs, which may stay. */
    private boolean noServerFiles() {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.map(it -> it.getFileName().toString())
                    .noneMatch(it -> it.startsWith("holdfast-postgres") && !it.startsWith("holdfast-postgres-bin"));
        } catch (IOException e) {
            return false;
        }
    }

    private static List<ProcessHandle> processes(PostgresServer server) {
        ProcessHandle first = ProcessHandle.of(server.pid()).orElseThrow();
        return Stream.concat(Stream.of(first), first.children()).toList();
    }

    private static char answer(PostgresServer server, Duration within) throws IOException {
        try (Socket socket = new Socket(InetAddress.getByName(server.host()), server.port())) {
            socket.setSoTimeout((int) within.toMillis());
            socket.getOutputStream().write(QUESTION);
            return (char) socket.getInputStream().read();
        }
    }
}
