package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Five real servers that are killed, frozen and started again. */
class RedlockServersIT {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String NAME = "stock/42";

    private final List<RedisServer> servers =
            Stream.generate(RedisServer::start).limit(5).toList();
    private final List<LockClient> clients = new ArrayList<>();
    private final LockClient client = newClient();
    private final LockClient rival = newClient();

    private LockClient newClient() {
        List<RedisLockBackend> masters = servers.stream()
                .map(it -> RedisLockBackend.builder(RedisURI.create(it.uri()))
                        .quarantine(Duration.ZERO)
                        .build())
                .toList();
        List<String> names = servers.stream().map(it -> "port " + it.port()).toList();
        LockClient made = LockClient.builder(RedlockBackend.builder(masters)
                        .names(names)
                        .masterTimeLimit(Duration.ofMillis(600)) // these tests are not about a busy machine
                        .build())
                .options(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(6))
                        .build())
                .build();
        clients.add(made);
        return made;
    }

    @AfterEach
    void stop() {
        clients.forEach(it -> it.close().toFuture().join());
        servers.forEach(RedisServer::close);
    }

    @CanIgnoreReturnValue
    private static <T> T await(Mono<T> mono) {
        try {
            return mono.toFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new AssertionError(e.getCause());
        } catch (TimeoutException | InterruptedException e) {
            throw new AssertionError("no answer within " + PATIENCE, e);
        }
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("patience").isNegative();
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private static boolean isEmptyButForTraces(RedisServer server) {
        RedisClient observer = RedisClient.create(server.uri());
        try (var connection = observer.connect()) {
            return Records.leftovers(connection.sync()).isEmpty();
        } finally {
            observer.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    @Test
    void twoKilledMastersStopNoClientAndGetTheLeaseBackWhenTheyReturn() throws InterruptedException {
        LockLease lease = await(client.lock(NAME).acquire());
        // A majority was enough for the lease, and the two may be among it.
        eventually(() -> servers.stream().noneMatch(RedlockServersIT::isEmptyButForTraces));
        servers.get(0).stop();
        servers.get(1).stop();
        await(lease.renew());
        servers.get(0).restart();
        servers.get(1).restart();
        eventually(() -> {
            await(lease.renew());
            return Stream.of(0, 1).noneMatch(i -> isEmptyButForTraces(servers.get(i)));
        });
        long token = lease.fencingToken();
        assertThat(lease.isValid()).isTrue();
        await(lease.release());
        assertThat(await(rival.lock(NAME).acquire()).fencingToken()).isGreaterThan(token);
    }

    @Test
    void withThreeKilledEveryAcquireFailsNamingThemAndTheOthersKeepNoKey() throws InterruptedException {
        await(client.ping());
        servers.subList(0, 3).forEach(RedisServer::stop);
        long begin = System.nanoTime();
        assertThatThrownBy(() -> await(client.lock(NAME).tryAcquire()))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("port %d failed", servers.get(0).port())
                .hasMessageContaining("port %d failed", servers.get(2).port())
                .hasMessageContaining("port %d said yes", servers.get(4).port())
                .hasMessageContaining("3 of 5 are needed");
        assertThat(Duration.ofNanos(System.nanoTime() - begin))
                .as("without a wait")
                .isLessThan(Duration.ofSeconds(6));
        eventually(() -> servers.subList(3, 5).stream().allMatch(RedlockServersIT::isEmptyButForTraces));
    }

    @Test
    void twoFrozenMastersStopNoClientAndCostNoTimeLimit() {
        for (int i = 0; i < 20; i++) {
            await(client.lock("warm-up").withLock(Mono.just(1)));
        }
        LockLease held = await(client.lock("held").acquire());
        servers.subList(2, 4).forEach(RedisServer::pause);
        long begin = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            await(client.lock(NAME).withLock(Mono.just(1)));
        }
        Duration each = Duration.ofNanos((System.nanoTime() - begin) / 20);
        await(held.renew());
        assertThat(held.isValid()).isTrue();
        servers.subList(2, 4).forEach(RedisServer::resume);
        System.out.printf("acquire and release with two of five masters frozen: %d us%n", each.toNanos() / 1_000);
        assertThat(each).as("not the time limit of a master").isLessThan(Duration.ofMillis(600));
    }

    @Test
    void releaseWakesAWaiterOfAnotherClient() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            LockLease lease = await(client.lock(NAME).acquire());
            CompletableFuture<LockLease> next = rival.lock(NAME).acquire().toFuture();
            TimeUnit.MILLISECONDS.sleep(300); // so that it waits, by a signal or by the clock
            assertThat(next).isNotDone();
            await(lease.release());
            LockLease won = next.join();
            assertThat(won.fencingToken()).isGreaterThan(lease.fencingToken());
            await(won.release());
        }
    }
}
