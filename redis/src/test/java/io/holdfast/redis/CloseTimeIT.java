package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** An unreachable server does not delay a close. */
class CloseTimeIT {

    private static final Duration SOON = Duration.ofSeconds(1);

    @Test
    void closingIsQuickAtAServerThatIsUp() {
        try (RedisServer server = RedisServer.start()) {
            RedisLockBackend backend = RedisLockBackend.create(RedisURI.create(server.uri()));
            Store.answer(backend.ping());
            assertClosesSoon(backend);
        }
    }

    @Test
    void closingIsQuickAtAServerThatWasKilled() {
        try (RedisServer server = RedisServer.start()) {
            RedisLockBackend backend = RedisLockBackend.create(RedisURI.create(server.uri()));
            Store.answer(backend.ping());
            server.stop();
            ClientOverRedis.pause(Duration.ofMillis(300));
            assertClosesSoon(backend);
        }
    }

    @Test
    void closingIsQuickAtAServerThatHangs() {
        try (RedisServer server = RedisServer.start()) {
            RedisLockBackend backend = RedisLockBackend.create(RedisURI.create(server.uri()));
            Store.answer(backend.ping());
            server.pause();
            CompletableFuture<Void> unanswered = backend.ping().toFuture();
            assertClosesSoon(backend);
            assertThat(unanswered).isDone();
        }
    }

    @Test
    void closingIsQuickAtAServerThatNeverRan() {
        RedisLockBackend backend = RedisLockBackend.create(RedisURI.create("127.0.0.1", FreePorts.next()));
        CompletableFuture<Void> failing = backend.ping().toFuture();
        assertThat(failing).failsWithin(Duration.ofSeconds(10));
        assertClosesSoon(backend);
    }

    @Test
    void closingIsQuickAtAServerThatAcceptsConnectionsAndSendsNothing() throws IOException {
        try (FakeServer silent = FakeServer.answering(name -> null)) {
            RedisLockBackend backend = RedisLockBackend.create(RedisURI.create("127.0.0.1", silent.port()));
            CompletableFuture<Void> unanswered = backend.ping().toFuture();
            ClientOverRedis.pause(Duration.ofMillis(200));
            assertClosesSoon(backend);
            assertThat(unanswered).isDone();
        }
    }

    /**
     * Behaves as a firewall that drops packets: the queue of the listener is full, and it accepts no further
     * connections.
     */
    @Test
    void closingIsQuickAtAServerThatAcceptsNoConnections() throws IOException {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<Socket> queued = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                queued.add(new Socket(full.getInetAddress(), full.getLocalPort()));
            }
            RedisLockBackend backend = RedisLockBackend.create(RedisURI.create("127.0.0.1", full.getLocalPort()));
            CompletableFuture<Void> unanswered = backend.ping().toFuture();
            ClientOverRedis.pause(Duration.ofMillis(200));
            assertClosesSoon(backend);
            assertThat(unanswered).isDone();
            for (Socket socket : queued) {
                socket.close();
            }
        }
    }

    private static void assertClosesSoon(RedisLockBackend backend) {
        long start = System.nanoTime();
        CompletableFuture<Void> closing = backend.close().toFuture();
        assertThat(closing).succeedsWithin(Duration.ofSeconds(20));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
    }
}
