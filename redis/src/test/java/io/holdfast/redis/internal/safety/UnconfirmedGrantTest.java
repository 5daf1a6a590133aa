package io.holdfast.redis.internal.safety;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.redis.Store;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

class UnconfirmedGrantTest {

    private final List<Throwable> dropped = new CopyOnWriteArrayList<>();

    @BeforeEach
    void listen() {
        Hooks.onErrorDropped(dropped::add);
    }

    @AfterEach
    void stopListening() {
        Hooks.resetOnErrorDropped();
    }

    @Test
    void aFailureAfterTheCancellationIsNotLoggedAsDropped() {
        AtomicReference<UnconfirmedGrant> grant = new AtomicReference<>();
        Mono<LockAttempt> pending = Mono.create(sink -> {
            UnconfirmedGrant mine = new UnconfirmedGrant(
                    Store.claim("orders"), new LockAttempt.Acquired(1, Duration.ofSeconds(1)), sink);
            grant.set(mine);
            sink.onCancel(mine);
        });
        pending.subscribe().dispose();

        grant.get().fail(new LockBackendException("orders", "too late", true, null));

        assertThat(dropped).isEmpty();
    }
}
