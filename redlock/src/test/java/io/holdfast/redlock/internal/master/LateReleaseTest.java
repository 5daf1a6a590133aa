package io.holdfast.redlock.internal.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.test.scheduler.VirtualTimeScheduler;

class LateReleaseTest {

    private static final Duration LEASE = Duration.ofSeconds(1);

    private final List<Throwable> dropped = new ArrayList<>();
    private final List<CoreSubscriber<? super Ownership>> asked = new ArrayList<>();
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();

    /** The failure of a release is on its way already when the release is cancelled. */
    private final class Deaf implements ForwardingLockBackend {

        private final LockBackend memory = InMemoryLockBackend.create(time);

        @Override
        public LockBackend delegate() {
            return memory;
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return Mono.fromDirect(subscriber -> {
                @SuppressWarnings("unchecked")
                CoreSubscriber<? super Ownership> waiting = (CoreSubscriber<? super Ownership>) subscriber;
                asked.add(waiting);
                waiting.onSubscribe(Operators.emptySubscription());
            });
        }
    }

    private final Masters masters = new Masters(new MasterSettings(
            Collections.nCopies(3, new Deaf()),
            List.of("one", "two", "three"),
            time,
            null,
            null,
            () -> 0.5,
            WallClock.ofSystem()));

    @BeforeEach
    void collectWhatIsDropped() {
        Hooks.onErrorDropped(dropped::add);
    }

    @AfterEach
    void reset() {
        Hooks.resetOnErrorDropped();
        time.dispose();
    }

    @Test
    void aBackgroundReleaseThatFailsAtItsTimeLimitIsNotLoggedAsAnError() {
        LockClaim claim = new LockClaim(LockKey.of(LockKind.MUTEX, "stock"), "claim", LEASE, Waiting.NONE, 1, 0, 1, "");
        masters.releases().release(0, claim);
        time.advanceTimeBy(masters.limit(LEASE));

        asked.get(0).onError(new IllegalStateException("late"));

        assertThat(dropped).isEmpty();
    }
}
