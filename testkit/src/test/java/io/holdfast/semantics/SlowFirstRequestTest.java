package io.holdfast.semantics;

import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A new process loads classes while it sends its first request: that time does not count for the back end. */
class SlowFirstRequestTest {

    private static final Duration CLASS_LOADING = OPERATION_TIMEOUT.multipliedBy(3);

    @RegisterExtension
    final World world = new World();

    private final FirstIsSlow slow = new FirstIsSlow();
    private final LockClient client =
            LockClient.builder(slow).timer(world.clock).closeBackend(false).build();

    @AfterEach
    void close() {
        world.subscribe(client.close());
    }

    @Test
    void theOperationTimeoutCountsFromWhenTheFirstRequestWasSent() {
        LockLease lease = world.granted(client.lock("stock/42").tryAcquire());

        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void aSlowFirstRequestIsGivenUpAfterTheTimeThatSendingTook() {
        slow.isSilent = true;
        TestSubscriber<LockLease> tried =
                world.subscribe(client.lock("stock/42").tryAcquire());
        world.pass(CLASS_LOADING.minusMillis(1));
        assertThat(tried.isTerminated()).isFalse();

        world.pass(Duration.ofMillis(1));

        assertThat(tried.expectTerminalError())
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("was not answered within 2000 ms");
    }

    @Test
    void aPingDoesNotTimeOutWhileItIsBeingSent() {
        TestSubscriber<Void> ping = world.subscribe(client.ping());

        assertThat(ping.isTerminatedComplete()).isTrue();
    }

    @Test
    void anUnansweredPingIsGivenUpAfterTheTimeThatSendingTook() {
        world.subscribe(client.ping());
        slow.isLoaded = false;
        slow.isSilent = true;
        TestSubscriber<Void> ping = world.subscribe(client.ping());
        world.pass(CLASS_LOADING.minusMillis(1));
        assertThat(ping.isTerminated()).isFalse();

        world.pass(Duration.ofMillis(1));

        assertThat(ping.expectTerminalError())
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("was not answered within 2000 ms");
    }

    /** To open a connection takes longer than a request, once. */
    @Test
    void theFirstPingsWaitForAConnection() {
        slow.isLoaded = true;
        slow.isSilent = true;
        TestSubscriber<Void> first = world.subscribe(client.ping());
        world.pass(Duration.ofMillis(9_999));
        assertThat(first.isTerminated()).isFalse();
        world.pass(Duration.ofMillis(1));
        assertThat(first.expectTerminalError()).hasMessageContaining("was not answered within 10000 ms");

        slow.isSilent = false;
        world.subscribe(client.ping());
        slow.isSilent = true;
        TestSubscriber<Void> later = world.subscribe(client.ping());
        world.pass(OPERATION_TIMEOUT);
        assertThat(later.expectTerminalError()).hasMessageContaining("was not answered within 2000 ms");
    }

    private final class FirstIsSlow implements ForwardingLockBackend {

        private boolean isLoaded;
        private boolean isSilent;

        @Override
        public LockBackend delegate() {
            return world.store;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return loaded(() -> isSilent ? Mono.never() : world.store.tryAcquire(claim));
        }

        @Override
        public Mono<Void> ping() {
            Mono<Void> ping = loaded(() -> isSilent ? Mono.never() : world.store.ping());
            return Mono.just("a server").flatMap(server -> ping); // like Redis, which first finds the server
        }

        private <T> Mono<T> loaded(Supplier<Mono<T>> request) {
            return Mono.defer(() -> {
                if (!isLoaded) {
                    isLoaded = true;
                    world.clock.advanceTimeBy(CLASS_LOADING);
                }
                return request.get();
            });
        }
    }
}
