package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** One master in memory. Its tokens follow a clock of its own, as those of Redis do, and it may lose its data. */
final class Master implements ForwardingLockBackend {

    final MutableClock clock;
    private final Scheduler time;
    private InMemoryLockBackend store;
    private long votesFromNanos = Long.MIN_VALUE;

    Master(Scheduler time) {
        this.time = time;
        clock = new MutableClock(time);
        store = InMemoryLockBackend.create(time);
    }

    @Override
    public LockBackend delegate() {
        return store;
    }

    /** Comes back empty, and grants nothing for that time. */
    void loseData(Duration quarantine) {
        store = InMemoryLockBackend.create(time);
        votesFromNanos = time.now(TimeUnit.NANOSECONDS) + quarantine.toNanos();
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.defer(() -> {
            if (votesFromNanos != Long.MIN_VALUE && time.now(TimeUnit.NANOSECONDS) - votesFromNanos < 0) {
                Duration rest = Duration.ofNanos(votesFromNanos - time.now(TimeUnit.NANOSECONDS));
                return Mono.error(LockBackendException.notYet(claim.key().name(), "in quarantine, on purpose", rest));
            }
            // A new grant has at least the clock as its token; a held claim keeps its token. (This request extends the
            // claim, as the attempt does anyway.)
            return store.renew(claim)
                    .map(standing -> standing instanceof Renewal.Held
                            ? claim
                            : claim.withTokenFloor(Math.max(claim.tokenFloor(), clock.micros())))
                    .flatMap(store::tryAcquire);
        });
    }

    boolean holds(String lockName) {
        return contents().stream().anyMatch(it -> it.contains("'" + lockName + "' held"));
    }

    List<String> contents() {
        return store.contents();
    }
}
