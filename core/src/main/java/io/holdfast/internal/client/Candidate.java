package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.internal.claim.HeldLocks;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.guard.Guarded;
import io.holdfast.internal.timing.AlarmClock;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A {@code withLockMany} that begins again after a loss, or after a failure of the back end. */
final class Candidate<T> {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    private final LockSettings lock;
    private final Function<? super LockLease, ? extends Publisher<? extends T>> term;

    // One candidacy ends before the next begins, and the signals of a candidacy are serial.
    private long tokenOfTerm;
    private long begunAtNanos;
    private boolean hasCompleted;
    private boolean isBackEndUnreachable;

    /** How many candidacies of this series ended with a loss, or with a failure of the back end. */
    private int inARow;

    Candidate(LockSettings lock, Function<? super LockLease, ? extends Publisher<? extends T>> term) {
        this.lock = lock;
        this.term = term;
    }

    static <T> Flux<T> stand(LockSettings lock, Function<? super LockLease, ? extends Publisher<? extends T>> term) {
        return Flux.defer(() -> new Candidate<>(lock, term).stand());
    }

    private Flux<T> stand() {
        Mono<LockLease> elected = Mono.defer(() -> {
            elected(0);
            return HeldLocks.acquire(lock, lock.terms().acquireMode(), false)
                    .doOnNext(lease -> elected(lease.fencingToken())); // the lease may be lost before the term begins
        });
        return Guarded.many(elected, this::begin)
                .retryWhen(Retry.from(ends -> ends.concatMap(end -> ended(end.failure()))));
    }

    void elected(long token) {
        tokenOfTerm = token;
        begunAtNanos = lock.engine().alarms.now();
        hasCompleted = false;
    }

    private Publisher<T> begin(LockLease lease) {
        return Flux.<T>from(requireNonNull(term.apply(lease), "the term of a leader must not be null"))
                .doOnComplete(() -> hasCompleted = true);
    }

    private Mono<Boolean> ended(Throwable error) {
        return standsAgainAfter(error) ? pause() : Mono.error(error);
    }

    boolean standsAgainAfter(Throwable error) {
        boolean wasElected = tokenOfTerm != 0;
        if (wasElected ? !isLoss(error) : !(error instanceof LockBackendException failure && failure.isTransient())) {
            return false;
        }
        boolean isNewSeries = lock.engine().alarms.now() - begunAtNanos > longestOfSeries(wasElected);
        if (!wasElected && (isNewSeries || !isBackEndUnreachable)) {
            Fallible.tell(() -> LOG.warn(
                    "the back end failed for a candidate of the election '{}', which stands again after a pause: {}",
                    Printable.text(lock.name()),
                    error.getMessage()));
        }
        isBackEndUnreachable = !wasElected;
        inARow = isNewSeries ? 1 : Math.max(inARow, inARow + 1); // it does not overflow
        return true;
    }

    /** A term may be the first to detect its own loss; a completed term does not lead any more. */
    private boolean isLoss(Throwable error) {
        return !hasCompleted
                && error instanceof LockLostException lost
                && lost.lockName().equals(lock.name())
                && lost.fencingToken() == tokenOfTerm;
    }

    /** An acquisition gives up after one lease of failures and a pause. A longer candidacy got answers before. */
    private long longestOfSeries(boolean wasElected) {
        LockOptions options = lock.options();
        long leaseNanos = options.leaseDuration().toNanos();
        return wasElected
                ? leaseNanos
                : 2 * leaseNanos + options.backoff().pause(Integer.MAX_VALUE, 0).toNanos();
    }

    long pauseNanos() {
        Duration pause = lock.options().backoff().pause(inARow, lock.engine().random());
        return Math.max(StoreDurations.LEAST_PAUSE_NANOS, pause.toNanos());
    }

    /** Ends with the client: a candidacy that begins then fails because the client is closed. */
    private Mono<Boolean> pause() {
        AlarmClock alarms = lock.engine().alarms;
        return Mono.create(sink -> {
            Alarm over = Alarm.atTheLatestAtClose(() -> sink.success(true));
            sink.onDispose(() -> alarms.off(over));
            alarms.set(over, alarms.now() + pauseNanos());
        });
    }
}
