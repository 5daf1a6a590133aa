package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Tests the guarantees on a Redis whose clock is set. It needs libfaketime, and is skipped without it. */
class ServerClockIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(60);
    private static final Duration STEP = Duration.ofSeconds(90);

    @TempDir
    private Path folder;

    private ServerClock clock;
    private RedisServer server;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        Optional<ServerClock> found = ServerClock.in(folder, "redis");
        assumeTrue(found.isPresent(), ServerClock.MISSING);
        clock = found.get();
        server = RedisServer.builder().environment(clock.environment()).start();
        client = newClient();
        rival = newClient();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            await(client.close());
            await(rival.close());
            server.close();
        }
    }

    private LockClient newClient() {
        // On a busy machine, a waiter may be slow. It must not be passed over.
        RedisLockBackend patient = RedisLockBackend.builder(RedisURI.create(server.uri()))
                .claimTime(PATIENCE)
                .build();
        return LockClient.builder(patient)
                .options(LockOptions.builder()
                        .leaseDuration(LEASE)
                        .waitTimeout(PATIENCE)
                        .autoRenew(false)
                        .build())
                .build();
    }

    @Test
    void aClockThatIsSetForwardEndsLeasesEarlyAndTokensRise() throws Exception {
        LockLease held = acquired(client);
        assertThat(await(rival.lock("orders").tryAcquire().hasElement())).isFalse();

        clock.set(server, STEP);

        assertThat(held.isValid()).as("the holder does not know").isTrue();
        LockLease next = acquired(rival);
        assertThat(next.fencingToken())
                .isGreaterThan(held.fencingToken() + STEP.dividedBy(2).toMillis() * 1_000);
        await(next.release());
    }

    @Test
    void aClockThatIsSetBackKeepsExclusionAndTokensRise() throws Exception {
        LockLease held = acquired(client);

        clock.set(server, STEP.negated());

        assertThat(await(rival.lock("orders").tryAcquire().hasElement())).isFalse();
        await(held.renew());
        assertThat(held.isValid()).isTrue();
        assertThat(held.remaining()).as("what it was promised").isLessThanOrEqualTo(LEASE);
        await(held.release());
        LockLease next = acquired(rival);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        assertThat(next.remaining()).isLessThanOrEqualTo(LEASE);
        await(next.release());
    }

    @Test
    void waitersAreServedInTheirOrderThoughTheClockIsSetBack() throws Exception {
        LockLease held = acquired(client);
        var first = rival.lock("orders").acquire().toFuture();
        Await.until("one waits", PATIENCE, Duration.ofMillis(10), () -> waiting() == 1);

        clock.set(server, STEP.negated());
        var second = client.lock("orders").acquire().toFuture();
        Await.until("two wait", PATIENCE, Duration.ofMillis(10), () -> waiting() == 2);
        // A client whose channel is not open yet counts as absent: the other one's waiter would get the lock first.
        Await.until("both listen", PATIENCE, Duration.ofMillis(10), () -> listening() == 2);

        await(held.release());
        LockLease next = first.get(30, TimeUnit.SECONDS);
        assertThat(second).isNotDone();
        await(next.release());
        LockLease last = second.get(30, TimeUnit.SECONDS);
        assertThat(last.fencingToken()).isGreaterThan(next.fencingToken());
        await(last.release());
    }

    private long waiting() {
        String lock = "holdfast:{orders}:mutex";
        return RedisStore.ask(server.port(), redis -> redis.zcard(lock + ":queue"));
    }

    private int listening() {
        return RedisStore.ask(server.port(), redis -> redis.pubsubChannels().size());
    }

    private static LockLease acquired(LockClient by) {
        return await(by.lock("orders").acquire());
    }

    private static <T> T await(Mono<T> what) {
        return what.block(PATIENCE);
    }
}
