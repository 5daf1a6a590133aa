package io.holdfast.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import reactor.core.publisher.Mono;

/** Netty's name resolver is on the class path here, as in an application that uses Redis and a reactive database. */
@EnabledOnOs(OS.LINUX)
class ClosedClientsIT {

    private static final int CLIENTS = 80;

    /** About one client in six left the socket of its resolver open. */
    @Test
    void closedClientsLeaveNoSocketOfTheResolver() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            openAndClose(redis);
            long before = datagramSockets();

            for (int i = 0; i < CLIENTS; i++) {
                openAndClose(redis);
            }

            assertThat(datagramSockets()).isLessThanOrEqualTo(before + 1);
        }
    }

    private static void openAndClose(RedisServer redis) {
        LockClient locks = LockClient.builder(RedisLockBackend.create(RedisURI.create(redis.uri())))
                .closeBackend(true)
                .build();
        locks.ping().then(Mono.defer(locks::close)).block();
    }

    private static long datagramSockets() throws IOException {
        Set<String> sockets = new HashSet<>();
        for (String table : List.of("udp", "udp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
                sockets.add("socket:[%s]".formatted(line.trim().split("\\s+", -1)[9]));
            }
        }
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(file -> sockets.contains(target(file))).count();
        }
    }

    private static String target(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException closed) {
            return "";
        }
    }
}
