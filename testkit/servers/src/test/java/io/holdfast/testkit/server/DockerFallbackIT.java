package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/**
 * A Docker engine without images that reaches no registry. The environment names it, so the test needs a JVM of its
 * own.
 */
class DockerFallbackIT {

    @Test
    void engineWithoutTheImageIsSkippedWithOneLine() throws IOException {
        List<String> asked = new CopyOnWriteArrayList<>();
        try (ServerSocket engine = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread answers = new Thread(() -> refuse(engine, asked), "fake-docker");
            answers.setDaemon(true);
            answers.start();
            List<String> lines = linesUpToThePid(engine.getLocalPort());
            assertThat(lines).hasSize(3);
            assertThat(lines.get(0)).contains("Docker is there", "some/redis:1", "no registry");
            assertThat(lines.get(1)).startsWith("[holdfast] Redis from ");
            assertThat(lines.get(2)).startsWith("pid ");
        }
        assertThat(asked)
                .containsExactly(
                        "GET /images/some/redis:1/json HTTP/1.0", "GET /distribution/some/redis:1/json HTTP/1.0");
    }

    private static List<String> linesUpToThePid(int port) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-D" + RedisServer.IMAGE + "=some/redis:1",
                "-cp",
                System.getProperty("java.class.path"),
                Owner.class.getName());
        builder.environment().put("DOCKER_HOST", "tcp://127.0.0.1:" + port);
        builder.environment().remove("DOCKER_TLS_VERIFY");
        Process owner = builder.redirectErrorStream(true).start();
        try (BufferedReader out = owner.inputReader()) {
            List<String> lines = new ArrayList<>();
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
                if (line.startsWith("pid ")) {
                    break;
                }
            }
            return lines;
        } finally {
            owner.destroyForcibly();
        }
    }

    private static void refuse(ServerSocket engine, List<String> asked) {
        while (!engine.isClosed()) {
            try (Socket socket = engine.accept()) {
                String line = new BufferedReader(
                                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                        .readLine();
                if (line != null) { // null: the client only checked whether the engine listens
                    asked.add(line);
                    socket.getOutputStream()
                            .write("HTTP/1.0 404 Not Found\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException closed) {
                // The test has ended.
            }
        }
    }
}
