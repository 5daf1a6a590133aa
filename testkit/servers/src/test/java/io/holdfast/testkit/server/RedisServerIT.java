package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RedisServerIT {

    @Test
    void serverAnswersAtItsPort() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            assertThat(ask(redis, "PING")).isEqualTo("+PONG");
            assertThat(redis.uri()).isEqualTo("redis://%s:%d".formatted(redis.host(), redis.port()));
        }
    }

    @Test
    void serverHasEndedAfterClose() {
        RedisServer redis = RedisServer.start();
        redis.close();
        redis.close();
        assertThatThrownBy(() -> ask(redis, "PING")).isInstanceOf(IOException.class);
    }

    @Test
    void restartedServerIsEmptyAndOnTheSamePort() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            int port = redis.port();
            assertThat(ask(redis, "SET a b")).isEqualTo("+OK");
            redis.stop();
            assertThatThrownBy(() -> ask(redis, "PING")).isInstanceOf(IOException.class);
            redis.restart();
            assertThat(redis.port()).isEqualTo(port);
            assertThat(ask(redis, "EXISTS a")).isEqualTo(":0");
        }
    }

    @Test
    void pausedServerKeepsItsConnectionsAndAnswersNothing() throws IOException {
        try (RedisServer redis = RedisServer.start();
                Socket socket = new Socket(redis.host(), redis.port())) {
            socket.setSoTimeout(200);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            redis.pause();
            send(socket, "PING");
            assertThatThrownBy(in::readLine).isInstanceOf(SocketTimeoutException.class);
            redis.resume();
            socket.setSoTimeout(10_000);
            assertThat(in.readLine()).isEqualTo("+PONG");
        }
    }

    @Test
    void passwordIsRequired() throws IOException {
        try (RedisServer redis = RedisServer.builder().password("secret").start()) {
            assertThat(ask(redis, "PING")).startsWith("-NOAUTH");
            assertThat(ask(redis, "AUTH secret")).isEqualTo("+OK");
            assertThat(redis.uri()).contains(":secret@");
            assertThat(redis.toString()).doesNotContain("secret");
        }
    }

    @Test
    void argumentsReachTheServer() throws IOException {
        try (RedisServer redis = RedisServer.builder().args("--databases", "1").start()) {
            assertThat(ask(redis, "SELECT 1")).startsWith("-ERR");
        }
    }

    /** Servers with an environment are child processes, and all of them run the program that was unpacked once. */
    @Test
    void serverThatDoesNotStartLeavesTheProgramToOthers() throws IOException {
        RedisServer.Builder child = RedisServer.builder().environment(Map.of("HOLDFAST_TEST", "1"));
        assertThatThrownBy(() -> child.args("--no-such-setting", "1").start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no-such-setting");
        try (RedisServer next = child.args().start()) {
            assertThat(ask(next, "PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void manyServersStartAtTheSameTime() {
        List<RedisServer> servers = IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> RedisServer.start())
                .toList();
        Set<Integer> ports = servers.stream().map(RedisServer::port).collect(Collectors.toSet());
        servers.forEach(RedisServer::close);
        assertThat(ports).hasSize(8);
    }

    private static String ask(RedisServer redis, String command) throws IOException {
        try (Socket socket = new Socket(redis.host(), redis.port())) {
            socket.setSoTimeout(10_000);
            send(socket, command);
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
        }
    }

    private static void send(Socket socket, String command) throws IOException {
        socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }
}
