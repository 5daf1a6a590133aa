package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

class LeaseExportTest {

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    private final Engine engine =
            new Engine(store, clock, null, new Events(null), null, Engine.NO_LIMIT, Randomness.ofSystem(), "");
    private final LockSettings lock = LockSettings.of(
            engine, LockKey.of(LockKind.MUTEX, "a"), 1, LockOptions.builder().build());

    @Test
    void anExportWhoseTextCannotBeMadeFailsAndReleasesTheLock() {
        LockClaim claim = lock.newClaim(Mode.TRY).withAttempt(Integer.MAX_VALUE); // there is no later number
        long token = ((LockAttempt.Acquired) attempt(claim)).fencingToken();
        TestSubscriber<LockLease> lease = TestSubscriber.create();
        new Adoption(lock, new ExportedLease(claim, token, 0)).lease().subscribe(lease);
        clock.advanceTimeBy(Duration.ZERO);

        TestSubscriber<String> text = TestSubscriber.create();
        lease.getReceivedOnNext().get(0).export().subscribe(text);
        clock.advanceTimeBy(Duration.ZERO);

        assertThat(text.expectTerminalError()).hasMessageContaining("attempt");
        assertThat(attempt(lock.newClaim(Mode.TRY))).isInstanceOf(LockAttempt.Acquired.class);
    }

    private LockAttempt attempt(LockClaim claim) {
        TestSubscriber<LockAttempt> answer = TestSubscriber.create();
        store.tryAcquire(claim).subscribe(answer);
        clock.advanceTimeBy(Duration.ZERO);
        return answer.getReceivedOnNext().get(0);
    }
}
