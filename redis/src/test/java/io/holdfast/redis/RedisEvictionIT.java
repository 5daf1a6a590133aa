package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that deletes keys when its memory is full: the back end warns about it, and these tests show why. */
class RedisEvictionIT {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final String PADDING = "x".repeat(10_000);

    private final Warnings warnings = Warnings.listen();
    private Store store;

    @BeforeEach
    void start() {
        store = Store.start("--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru");
    }

    @AfterEach
    void stop() {
        warnings.close();
        store.close();
    }

    private LockClient client() {
        return LockClient.builder(store.backend())
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .build();
    }

    @Test
    void aHeldLockIsEvictedAndGrantedAgainAndItsHolderLearnsOfItByTheNextRenewal() {
        LockClient client = client();
        LockClient rival = client();
        LockLease lost = await(client.lock("orders").acquire());
        CompletableFuture<LossReason> loss = lost.onLoss().toFuture();
        for (int i = 0; store.isHeld(Store.holderKey("orders")); i++) {
            assertThat(store.redis().set("padding-" + i, PADDING)).isEqualTo("OK");
        }

        LockLease next = await(rival.lock("orders").acquire());

        assertThat(next.isValid()).as("granted again").isTrue();
        assertThat(next.fencingToken()).as("the counter may be gone too").isGreaterThan(lost.fencingToken());
        assertThat(loss).succeedsWithin(LEASE).isEqualTo(LossReason.NOT_HELD);
        await(next.release().onErrorComplete());
        await(client.close());
        await(rival.close());
    }

    @Test
    void thePolicyIsWarnedAboutOncePerBackendAndSaysWhatToSet() {
        RedisLockBackend backend = store.backend();
        Store.answer(backend.ping());
        eventually(() -> !warnings.texts().isEmpty());
        assertThat(store.redis().clientKill(KillArgs.Builder.typePubsub())).isPositive();
        eventually(() -> isAnswering(backend));
        eventually(() -> store.calls("ping") > 1);
        assertThat(warnings.texts())
                .singleElement()
                .satisfies(text -> assertThat(text)
                        .contains("maxmemory-policy allkeys-lru")
                        .contains("127.0.0.1:" + store.server.port())
                        .contains("Set maxmemory-policy noeviction"));
        Store.end(backend);
    }

    private static boolean isAnswering(RedisLockBackend backend) {
        try {
            Store.answer(backend.ping());
            return true;
        } catch (RuntimeException notYet) {
            return false;
        }
    }

    @Test
    void aPolicyThatEvictsNothingIsNotWarnedAbout() {
        assertThat(store.redis().configSet("maxmemory-policy", "noeviction")).isEqualTo("OK");
        assertNoWarning(store.uri());
    }

    @Test
    void aUserWithoutInfoGetsNoWarning() {
        store.user("locker", RedisErrorsIT.DOCUMENTED_ACL);
        RedisURI uri = RedisURI.builder(store.uri())
                .withAuthentication("locker", "any")
                .build();
        assertNoWarning(uri);
    }

    private void assertNoWarning(RedisURI uri) {
        RedisLockBackend backend = RedisLockBackend.create(uri);
        Store.answer(backend.ping());
        eventually(() -> store.redis().info("commandstats").contains("cmdstat_info:"));
        Store.answer(backend.ping()); // answered after the earlier commands
        assertThat(warnings.texts()).isEmpty();
        Store.end(backend);
    }
}
