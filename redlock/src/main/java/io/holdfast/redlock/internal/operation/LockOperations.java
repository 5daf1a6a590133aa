package io.holdfast.redlock.internal.operation;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.Pings;
import io.holdfast.redlock.internal.quorum.TokenFloor;
import io.holdfast.redlock.internal.watch.QuorumWatch;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Closing;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The operations of one back end, until it is closed. */
public final class LockOperations {

    private static final Duration LONGEST_FAREWELL = Duration.ofSeconds(2);

    private final Masters masters;
    private final ClaimRegistry registry;
    private final Closing closing;

    /** Written once, by the closing. */
    private volatile boolean isClosed;

    /**
     * Works over masters that have got no request yet.
     *
     * @param closesMasters whether {@link #close} closes them
     */
    public LockOperations(Masters masters, boolean closesMasters) {
        this.masters = masters;
        registry = new ClaimRegistry(masters.size());
        Mono<Void> end = Mono.<Void>fromRunnable(() -> isClosed = true)
                .then(masters.releases().finish().timeout(LONGEST_FAREWELL, Mono.empty(), masters.timer()));
        closing = new Closing("the Redlock back end", closesMasters ? end.then(Mono.defer(this::closeMasters)) : end);
    }

    private Mono<Void> closeMasters() {
        return Mono.whenDelayError(
                masters.backends().stream().map(LockBackend::close).toList());
    }

    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return unlessClosed("acquire", claim.key(), () -> {
            if (claim.key().kind() == LockKind.SEMAPHORE) {
                throw new UnsupportedOperationException(
                        "a semaphore over several masters is not safe: of three masters with two permits, each two can admit a different pair; use one master for it");
            }
            if (claim.tokenFloor() >= TokenFloor.LIMIT) {
                throw new IllegalArgumentException("tokenFloor of lock '%s' must be below 2^53 - 2^40, was %d"
                        .formatted(Printable.text(claim.key().name()), claim.tokenFloor()));
            }
            return AcquireTurn.of(masters, registry, claim);
        });
    }

    public Mono<Renewal> renew(LockClaim claim) {
        return unlessClosed("renew", claim.key(), () -> RenewalRound.of(masters, registry, List.of(claim)))
                .map(answers -> answers.get(0))
                .flatMap(answer -> answer instanceof Renewal.Unknown it ? Mono.error(it.failure()) : Mono.just(answer));
    }

    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        List<LockClaim> batch = List.copyOf(claims);
        return batch.isEmpty()
                ? Flux.empty()
                : unlessClosed("renew", batch.get(0).key(), () -> RenewalRound.of(masters, registry, batch))
                        .flatMapIterable(answers -> answers);
    }

    public Mono<Ownership> release(LockClaim claim) {
        return unlessClosed("release", claim.key(), () -> ReleaseRound.of(masters, registry, claim));
    }

    public Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.defer(() ->
                isClosed ? Flux.error(closed("watch", claim.key().name())) : QuorumWatch.of(masters, registry, claim));
    }

    public Mono<Void> ping() {
        return Mono.defer(() -> isClosed ? Mono.error(closed("ping", "")) : Pings.toMajority(masters));
    }

    public void checkLease(Duration lease) {
        masters.checkLease(lease);
    }

    public Mono<Void> close() {
        return closing.begin();
    }

    /** The number of claims that wait or hold. For tests. */
    public int claimCount() {
        return registry.size(masters.now());
    }

    /** The number of releases in the background. For tests. */
    public int releaseCount() {
        return masters.releases().underWay();
    }

    public <T> Mono<T> unlessClosed(String verb, LockKey key, Supplier<Mono<T>> operation) {
        return Mono.defer(() -> isClosed ? Mono.error(closed(verb, key.name())) : operation.get());
    }

    private static LockBackendException closed(String verb, String lockName) {
        String what = lockName.isEmpty() ? verb : "%s lock '%s'".formatted(verb, lockName);
        return new LockBackendException(
                lockName, "cannot %s: the Redlock back end is closed; create a new one".formatted(what), false, null);
    }

    @Override
    public String toString() {
        return masters.names().toString();
    }
}
