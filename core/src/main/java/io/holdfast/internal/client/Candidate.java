package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockLease;
import io.holdfast.internal.claim.HeldLocks;
import io.holdfast.internal.client.CandidateState.Candidacy;
import io.holdfast.internal.client.CandidateState.StandAgain;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.guard.Guarded;
import io.holdfast.internal.timing.AlarmClock;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.spi.support.Printable;
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
    private final Function<? super LockLease, ? extends Publisher<T>> term;

    // One candidacy ends before the next begins, and the signals of a candidacy are serial.
    private CandidateState state;
    private long tokenOfTerm;
    private long begunAtNanos;
    private boolean hasCompleted;

    private Candidate(LockSettings lock, Function<? super LockLease, ? extends Publisher<T>> term) {
        this.lock = lock;
        this.term = term;
        state = CandidateState.of(
                lock.options().backoff(), lock.options().leaseDuration().toNanos());
    }

    static <T> Flux<T> stand(LockSettings lock, Function<? super LockLease, ? extends Publisher<T>> term) {
        return Flux.defer(() -> new Candidate<>(lock, term).stand());
    }

    private Flux<T> stand() {
        Mono<LockLease> elected = Mono.defer(() -> {
            elected(0);
            hasCompleted = false;
            return HeldLocks.acquire(lock, lock.terms().acquireMode(), false)
                    .doOnNext(lease -> elected(lease.fencingToken())); // the lease may be lost before the term begins
        });
        return Guarded.many(elected, this::begin)
                .retryWhen(Retry.from(ends -> ends.concatMap(end -> ended(end.failure()))));
    }

    private void elected(long token) {
        tokenOfTerm = token;
        begunAtNanos = lock.engine().alarms.now();
    }

    private Publisher<T> begin(LockLease lease) {
        return Flux.from(requireNonNull(term.apply(lease), "the term of a leader must not be null"))
                .doOnComplete(() -> hasCompleted = true);
    }

    private Mono<Boolean> ended(Throwable error) {
        long lasted = lock.engine().alarms.now() - begunAtNanos;
        Candidacy candidacy = new Candidacy(tokenOfTerm, lasted, hasCompleted);
        StandAgain again =
                state.ended(lock.key().name(), candidacy, error, lock.engine().random());
        if (again != null) {
            state = again.next();
            if (again.backEndFailed()) {
                LOG.warn(
                        "the back end failed for a candidate of the election '{}', which stands again after a pause: {}",
                        Printable.text(lock.key().name()),
                        error.getMessage());
            }
            return pause(again.pauseNanos());
        }
        return Mono.error(error);
    }

    /** Ends with the client: a candidacy that begins then fails because the client is closed. */
    private Mono<Boolean> pause(long nanos) {
        AlarmClock alarms = lock.engine().alarms;
        return Mono.create(sink -> {
            Alarm over = Alarm.atTheLatestAtClose(() -> sink.success(true));
            sink.onDispose(() -> alarms.off(over));
            alarms.set(over, alarms.now() + nanos);
        });
    }
}
