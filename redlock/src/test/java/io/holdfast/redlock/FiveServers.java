package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.publisher.Mono;

/** Five real servers, numbered from 1, and clients of them; all are ended after the test. */
final class FiveServers implements AfterEachCallback {

    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final String NAME = "stock/42";

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();

    /** Many clients in one JVM share the threads of the driver. */
    private final ClientResources resources = ClientResources.create();

    private final RedisClient observer = RedisClient.create(resources);

    /**
     * Starts five servers.
     *
     * @param thatKeep how many of them, the last ones, keep their data after a kill and a restart
     */
    FiveServers(int thatKeep) {
        for (int number = 1; number <= 5; number++) {
            RedisServer.Builder server = RedisServer.builder();
            servers.add(
                    number > 5 - thatKeep
                            ? server.args("--appendonly", "yes", "--appendfsync", "always")
                                    .start()
                            : server.start());
        }
    }

    FiveServers() {
        this(0);
    }

    /** One client, which remembers the votes. */
    static final class Client {

        final RedlockBackend backend;
        final LockClient locks;
        final ConcurrentLinkedQueue<Vote> votes;

        private Client(RedlockBackend backend, LockOptions options, ConcurrentLinkedQueue<Vote> votes) {
            this.backend = backend;
            this.votes = votes;
            locks = LockClient.builder(backend).options(options).build();
        }
    }

    /** Connects a client to a server directly. */
    Function<Integer, RedisLockBackend.Builder> direct() {
        return number -> at(RedisURI.create(server(number).uri()));
    }

    RedisLockBackend.Builder at(RedisURI uri) {
        return RedisLockBackend.builder(uri).resources(resources).quarantine(Duration.ZERO);
    }

    Client client(Duration lease) {
        return client(LockOptions.builder().leaseDuration(lease).build(), direct());
    }

    Client client(LockOptions options, Function<Integer, RedisLockBackend.Builder> member) {
        return client(options, member, backend -> backend);
    }

    Client client(
            LockOptions options,
            Function<Integer, RedisLockBackend.Builder> member,
            Function<RedlockBackend.Builder, RedlockBackend.Builder> more) {
        ConcurrentLinkedQueue<Vote> votes = new ConcurrentLinkedQueue<>();
        RedlockBackend.Builder backend = RedlockBackend.builder(IntStream.rangeClosed(1, 5)
                        .mapToObj(number -> member.apply(number).build())
                        .toList())
                .names(IntStream.rangeClosed(1, 5).mapToObj(it -> "redis " + it).toList())
                .listener(votes::add);
        Client client = new Client(more.apply(backend).build(), options, votes);
        clients.add(client);
        return client;
    }

    RedisServer server(int number) {
        return servers.get(number - 1);
    }

    /** Returns the servers at which any claim holds or waits. */
    List<Integer> holding() {
        return IntStream.rangeClosed(1, 5).filter(it -> !isEmpty(it)).boxed().toList();
    }

    /** Whether the server has only counters and tombstones, which expire. */
    boolean isEmpty(int number) {
        return query(number, redis -> Records.leftovers(redis).isEmpty());
    }

    <T> T query(int number, Function<RedisCommands<String, String>, T> query) {
        try (StatefulRedisConnection<String, String> connection =
                observer.connect(RedisURI.create(server(number).uri()))) {
            return query.apply(connection.sync());
        }
    }

    @CanIgnoreReturnValue
    static <T> T await(Mono<T> mono) {
        try {
            return mono.toFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new AssertionError(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("no answer within " + PATIENCE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    static void eventually(BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - begin).as("patience").isLessThan(PATIENCE.toNanos());
            pause(Duration.ofMillis(5));
        }
    }

    static void pause(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        clients.forEach(it -> it.locks.close().toFuture().join());
        observer.shutdown(0, 1, TimeUnit.SECONDS);
        servers.forEach(RedisServer::close);
        var unused = resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(5_000);
    }
}
