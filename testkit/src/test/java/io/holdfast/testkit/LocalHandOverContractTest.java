package io.holdfast.testkit;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.LocalHandOver;
import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * The contract of a back end, for a back end that hands over, between the claims of one process and between two
 * processes.
 */
class LocalHandOverContractTest implements LockBackendContract {

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    private final LockBackend backend =
            LocalHandOver.builder(store).clock(clock).build();
    private final LockBackend another =
            LocalHandOver.builder(store).clock(clock).build();

    @Override
    public LockBackend backend() {
        return backend;
    }

    @Override
    public LockBackend anotherClient() {
        return another;
    }

    @Override
    public Set<String> openPoints() {
        return Set.of(
                "claimOfAMutexBehindAVanishedClientIsServedInTime",
                "claimOfAMutexBehindFiveVanishedClientsIsServedInTime",
                "clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain");
    }

    @Override
    public LockInspector inspector() {
        return store.inspector();
    }

    @Override
    public void passTime(Duration time) {
        clock.advanceTimeBy(time);
    }

    @Override
    public Collection<String> leftovers() {
        List<String> left = new ArrayList<>(store.contents());
        if (remembersClaims()) {
            forgetLostOwners();
        }
        if (remembersClaims()) {
            left.add(backend.toString());
        }
        return left;
    }

    private boolean remembersClaims() {
        return !backend.toString().equals("LocalHandOver[%s]".formatted(store));
    }

    /**
     * The back end remembers an owner that has lost the lock for two lease durations, since a request of it may be
     * under way. Requests for other locks remove it after that time.
     */
    private void forgetLostOwners() {
        clock.advanceTimeBy(lease().multipliedBy(3));
        Flux.range(0, 200)
                .map(n -> LockClaim.first(LockKey.of(LockKind.MUTEX, "other" + n), "o" + n, lease(), Waiting.QUEUE))
                .concatMap(other -> backend.tryAcquire(other).then(backend.release(other)))
                .blockLast();
    }
}
