package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Runs without a server: a connection that is refused needs an event loop too. */
class BuiltTogetherTest {

    private static final Pattern EVENT_LOOP = Pattern.compile("lettuce-\\w+EventLoop-(\\d+)-\\d+");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void backEndsThatAreBuiltTogetherHaveOneGroupOfEventLoopsWhichEndsWithTheLastOfThem() throws IOException {
        Set<Integer> before = groups();
        RedisURI nowhere = RedisURI.create("redis://localhost:" + closedPort());
        List<RedisLockBackend> masters =
                RedisLockBackend.buildTogether(Stream.generate(() -> RedisLockBackend.builder(nowhere))
                        .limit(3)
                        .toList());

        masters.forEach(BuiltTogetherTest::isRefused);
        Set<Integer> groups = groups();
        groups.removeAll(before);
        assertThat(groups).hasSize(1);

        masters.subList(0, 2).forEach(it -> it.close().block(PATIENCE));
        isRefused(masters.get(2)); // and is not closed

        masters.get(2).close().block(PATIENCE);
        assertThat(groups()).doesNotContainAnyElementsOf(groups);
    }

    private static void isRefused(RedisLockBackend master) {
        assertThatThrownBy(() -> master.ping().block(PATIENCE))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isTrue());
    }

    /** Returns the numbers of the event loop groups that have a thread. */
    private static Set<Integer> groups() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(it -> EVENT_LOOP.matcher(it.getName()))
                .filter(Matcher::matches)
                .map(it -> Integer.valueOf(it.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
