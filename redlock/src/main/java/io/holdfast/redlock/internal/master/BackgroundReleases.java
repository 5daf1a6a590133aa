package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Printable;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * Releases votes that are not needed, in the background: each with its time limit, again after a failure that may pass, until the master has
 * ended them by itself. Bounded for each master, so that one that hangs does not use up what the others need: what is too much is left to expire.
 */
public final class BackgroundReleases {

    private static final int MOST_TRIES = 5;
    public static final int MOST_AT_ONE_MASTER = 2_000;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

    private final Masters masters;
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicIntegerArray atMaster;

    /** 1 while it is known that this master has too many. */
    private final AtomicIntegerArray tooMany;

    private final Sinks.Empty<Void> idle = Sinks.empty();

    /** Written once, by the closing. */
    private volatile boolean closing;

    BackgroundReleases(Masters masters) {
        this.masters = masters;
        atMaster = new AtomicIntegerArray(masters.size());
        tooMany = new AtomicIntegerArray(masters.size());
    }

    /** Releases the claim at that master now. */
    public void release(int master, LockClaim claim) {
        release(master, claim, Duration.ZERO);
    }

    /** Releases the claim at that master after one request to do so has failed. */
    public void releaseAgain(int master, LockClaim claim) {
        release(master, claim, FIRST_PAUSE);
    }

    /** The one place that subscribes to releases that no caller waits for. */
    private void release(int master, LockClaim claim, Duration pause) {
        underWay.incrementAndGet();
        if (atMaster.incrementAndGet(master) > MOST_AT_ONE_MASTER) {
            end(master);
            if (tooMany.compareAndSet(master, 0, 1)) {
                Masters.LOG.warn(
                        "{} releases are under way at {}, so further votes there are left to expire, the first of lock '{}'; does it answer?",
                        MOST_AT_ONE_MASTER,
                        Printable.text(masters.name(master)),
                        Printable.text(claim.key().name()));
            }
            return;
        }
        long expiresAtNanos = masters.now() + claim.lease().toNanos();
        Mono<?> release = Mono.defer(() -> masters.backend(master).release(claim))
                .timeout(masters.limit(claim.lease()), masters.timer())
                .retryWhen(Retry.from(failures -> failures.concatMap(failed -> again(failed, expiresAtNanos))));
        Mono<?> begun =
                pause.isZero() ? release : Mono.delay(pause, masters.timer()).then(release);
        var unused = begun.doFinally(signal -> end(master))
                .subscribe(
                        released -> {},
                        error -> Masters.LOG.debug(
                                "lock '{}': the vote of {} is left to expire: {}",
                                Printable.text(claim.key().name()),
                                Printable.text(masters.name(master)),
                                Printable.text(error.toString())));
    }

    /** No timer of its own for the end of the lease: most releases are answered at once, and there are many. */
    private Mono<Long> again(Retry.RetrySignal failed, long expiresAtNanos) {
        Duration pause = JitteredBackoff.afterFailures(FIRST_PAUSE, failed.totalRetries(), masters.random());
        boolean isTooLate = expiresAtNanos - masters.now() - pause.toNanos() <= 0;
        return closing || isTooLate || failed.totalRetries() >= MOST_TRIES
                ? Mono.error(failed.failure())
                : Mono.delay(pause, masters.timer());
    }

    private void end(int master) {
        if (atMaster.decrementAndGet(master) == MOST_AT_ONE_MASTER / 2) {
            tooMany.set(master, 0); // worth another word, should it happen again
        }
        if (underWay.decrementAndGet() == 0 && closing) {
            Sinks.EmitResult unused = idle.tryEmitEmpty();
        }
    }

    public int underWay() {
        return underWay.get();
    }

    /** Completes when nothing is under way any more; from now on nothing is tried again. */
    public Mono<Void> finish() {
        return Mono.defer(() -> {
            closing = true;
            if (underWay.get() == 0) {
                Sinks.EmitResult unused = idle.tryEmitEmpty();
            }
            return idle.asMono();
        });
    }
}
