package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * A server that answers later than the operation timeout. The outcome is unknown: the client does not trust a late
 * answer, and undoes its effect.
 */
class RedisSlowIT {

    private static final Duration LEASE = Duration.ofSeconds(12);
    private static final Duration OPERATION = Duration.ofMillis(300);
    private static final Duration TOO_LONG = Duration.ofMillis(450);

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private Store store;
    private TcpProxy proxy;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        store = Store.start();
        proxy = TcpProxy.inFrontOf(store.server);
        client = client(RedisURI.create(proxy.host(), proxy.port()));
        rival = client(store.uri());
        // The server knows the scripts. Otherwise each has to be sent twice, and both have to be answered in time.
        await(client.lock("warm-up").withLock(Mono.just(1)));
        await(rival.lock("warm-up").withLock(Mono.just(1)));
        events.clear();
    }

    private LockClient client(RedisURI uri) {
        return LockClient.builder(RedisLockBackend.create(uri))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .operationTimeout(OPERATION)
                .listener(events::add)
                .build();
    }

    @AfterEach
    void nothingIsLeftInTheStore() {
        proxy.pass();
        await(client.close());
        await(rival.close());
        assertThat(store.leftovers()).isEmpty();
        proxy.close();
        store.close();
    }

    @ParameterizedTest
    @EnumSource
    void aLateGrantIsNotBelievedAndIsUndone(Direction slow) {
        proxy.delay(slow, TOO_LONG);
        assertThatThrownBy(() -> await(client.lock("orders").tryAcquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        failure -> assertThat(failure.isTransient()).isTrue())
                .hasMessageContaining("its outcome is unknown");
        proxy.pass();

        CompletableFuture<LockLease> next = rival.lock("orders").acquire().toFuture();
        assertThat(next).as("long before the lease ends").succeedsWithin(LEASE.dividedBy(2));
        await(next.join().release());
        assertThat(events.stream().filter(LockEvent.Acquired.class::isInstance))
                .as("the rival's")
                .hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void anAcquireThatIsNeverAnsweredInTimeEndsWithItsWaitTimeoutAndLeavesNothing(Direction slow) {
        proxy.delay(slow, TOO_LONG);
        LockOptions patient = LockOptions.builder()
                .leaseDuration(LEASE)
                .waitTimeout(OPERATION.multipliedBy(5))
                .build();
        assertThatThrownBy(() -> await(client.lock("orders").with(patient).acquire()))
                .isInstanceOf(LockTimeoutException.class)
                .hasCauseInstanceOf(LockBackendException.class);
        proxy.pass();
        eventually(() -> store.leftovers().isEmpty());
        assertThat(events).noneMatch(LockEvent.Acquired.class::isInstance);
    }

    @Test
    void anAcquireSucceedsAsSoonAsTheServerIsQuickAgain() {
        proxy.delay(Direction.TO_CLIENT, TOO_LONG);
        CompletableFuture<LockLease> lease = client.lock("orders").acquire().toFuture();
        eventually(() -> events.stream().anyMatch(LockEvent.AttemptFailed.class::isInstance));
        proxy.pass();
        await(await(Mono.fromFuture(lease)).release());
    }

    @Test
    void anUnknownScriptReachesTheServerThoughItsErrorComesTooLate() {
        assertThat(store.redis().scriptFlush()).isEqualTo("OK");
        assertThat(store.redis().configResetstat()).isEqualTo("OK");
        proxy.delay(Direction.TO_CLIENT, TOO_LONG);
        eventually(() -> {
            assertThatThrownBy(() -> await(client.lock("orders").tryAcquire()))
                    .isInstanceOf(LockBackendException.class);
            return store.wholeScripts() > 0;
        });
    }

    @Test
    void aServerThatStallsForLessThanTheLeaseCostsNoLease() {
        LockLease lease = await(client.lock("orders").acquire());
        store.server.pause();
        eventually(() -> events.stream().anyMatch(LockEvent.RenewalFailed.class::isInstance));
        pause(OPERATION.multipliedBy(3));
        store.server.resume();
        Duration thatOnlyARenewalGives = LEASE.multipliedBy(3).dividedBy(4);
        eventually(() -> lease.remaining().compareTo(thatOnlyARenewalGives) > 0);
        assertThat(events).noneMatch(LockEvent.Lost.class::isInstance);
        await(lease.release());
    }

    @Test
    void aReleaseThatIsAnsweredTooLateIsSentAgainAndFreesTheLock() {
        LockLease lease = await(client.lock("orders").acquire());
        proxy.delay(Direction.TO_CLIENT, TOO_LONG);
        CompletableFuture<Void> released = lease.release().toFuture();
        assertThat(rival.lock("orders").acquire().flatMap(LockLease::release).toFuture())
                .succeedsWithin(LEASE.dividedBy(2));
        proxy.pass();
        assertThat(released).succeedsWithin(LEASE);
        assertThat(events).noneMatch(LockEvent.Lost.class::isInstance);
    }
}
