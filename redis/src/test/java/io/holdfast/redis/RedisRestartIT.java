package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.util.retry.Retry;

/** A server that has each grant on its disk before it answers, and is killed. */
class RedisRestartIT {

    /** Long: the tests are not about how fast the machine starts a server. */
    private static final Duration LEASE = Duration.ofSeconds(60);

    private Store store;

    /** Makes a client that retries for ten seconds. */
    private static final Retry WHILE_IT_CONNECTS = Retry.fixedDelay(100, Duration.ofMillis(100));

    @BeforeEach
    void start() {
        store = Store.start("--appendonly", "yes", "--appendfsync", "always");
    }

    @AfterEach
    void stop() {
        store.close();
    }

    private LockClient client() {
        return LockClient.builder(store.backend())
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .build();
    }

    @Test
    void aHeldLockAndItsQueueOutliveAKillOfTheServer() {
        LockClient client = client();
        LockClient rival = client();
        LockLease lease = await(client.lock("orders").acquire());
        CompletableFuture<LockLease> next = rival.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);

        store.server.restart();

        eventually(() -> store.isHeld(Store.holderKey("orders")));
        await(lease.renew().retryWhen(WHILE_IT_CONNECTS));
        assertThat(await(rival.lock("orders")
                        .tryAcquire()
                        .retryWhen(WHILE_IT_CONNECTS)
                        .hasElement()))
                .as("granted to another claim")
                .isFalse();
        assertThat(next).as("passes the holder").isNotDone();
        await(lease.release());
        assertThat(next.join().fencingToken()).isGreaterThan(lease.fencingToken());
        await(next.join().release());
        await(client.close());
        await(rival.close());
    }
}
