package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class ClientWarmUpTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Noting backend = new Noting();
    private final LockClient client = LockClient.create(backend);

    @Test
    void warmUpPingsAndTouchesNoLockOfTheBackEnd() {
        Mono<Void> warm = client.warmUp();
        assertThat(backend.requests).isEmpty();

        StepVerifier.create(warm).expectComplete().verify(PATIENCE);

        assertThat(backend.requests).containsExactly("ping");
        StepVerifier.create(client.close()).expectComplete().verify(PATIENCE);
    }

    @Test
    void warmUpFailsAsAPingDoesAndTheClientGoesOn() {
        backend.isAway = true;
        StepVerifier.create(client.warmUp())
                .expectError(LockBackendException.class)
                .verify(PATIENCE);

        backend.isAway = false;
        StepVerifier.create(client.lock("stock/42").withLock(Mono.just("done")))
                .expectNext("done")
                .expectComplete()
                .verify(PATIENCE);
        StepVerifier.create(client.close()).expectComplete().verify(PATIENCE);
    }

    private static final class Noting implements ForwardingLockBackend {

        private final LockBackend memory = InMemoryLockBackend.create();
        private final List<String> requests = new ArrayList<>();
        private boolean isAway;

        @Override
        public LockBackend delegate() {
            return memory;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return memory.tryAcquire(claim).doOnSubscribe(begun -> requests.add("tryAcquire"));
        }

        @Override
        public Mono<Void> ping() {
            return Mono.defer(() -> {
                requests.add("ping");
                return isAway ? Mono.error(new LockBackendException("", "away", false, null)) : memory.ping();
            });
        }
    }
}
