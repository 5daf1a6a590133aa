package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.master.ReleaseBacklog.Admission;
import io.holdfast.redlock.internal.master.ReleaseBacklog.Release;
import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Printable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * Releases votes that are not needed, in the background: each with its time limit, again after a failure that may pass, until the master has
 * ended them by itself. Bounded for each master, so that one that hangs does not use up what the others need: what is too much waits, and
 * what is too much to wait is left to expire.
 */
public final class BackgroundReleases {

    /** So many wait for an answer of one master. */
    public static final int MOST_UNDER_WAY = 2_000;

    /** As when thousands of attempts are cancelled at once. Some megabytes. */
    public static final int MOST_WAITING = 20_000;

    private static final int MOST_TRIES = 5;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

    private final Masters masters;
    private final List<ReleaseBacklog> backlogs;
    private final AtomicInteger underWay = new AtomicInteger();
    private final Sinks.Empty<Void> idle = Sinks.empty();

    /** Written once, by the closing. */
    private volatile boolean closing;

    BackgroundReleases(Masters masters) {
        this.masters = masters;
        backlogs = Stream.generate(() -> new ReleaseBacklog(MOST_UNDER_WAY, MOST_WAITING))
                .limit(masters.size())
                .toList();
    }

    /** Releases the claim at that master now. */
    public void release(int master, LockClaim claim) {
        release(master, claim, Duration.ZERO);
    }

    /** Releases the claim at that master after one request to do so has failed. */
    public void releaseAgain(int master, LockClaim claim) {
        release(master, claim, FIRST_PAUSE);
    }

    private void release(int master, LockClaim claim, Duration pause) {
        underWay.incrementAndGet();
        long expiresAtNanos = masters.now() + claim.lease().toNanos();
        Admission admission = backlogs.get(master).add(new Release(claim, pause, expiresAtNanos));
        if (admission == Admission.ADDED) {
            sendThoseThatWait(master);
            return;
        }
        end();
        if (admission == Admission.FIRST_REFUSED) {
            Masters.LOG.warn(
                    "{} releases wait at {}, so further votes there are left to expire, the first of lock '{}'; does it answer?",
                    MOST_WAITING,
                    Printable.text(masters.name(master)),
                    Printable.text(claim.key().name()));
        }
    }

    private void sendThoseThatWait(int master) {
        ReleaseBacklog backlog = backlogs.get(master);
        for (Release next = backlog.begin(false); next != null; next = backlog.begin(true)) {
            send(master, next);
        }
    }

    /** The one place that subscribes to releases that no caller waits for. */
    private void send(int master, Release next) {
        LockClaim claim = next.claim();
        if (isExpired(next, Duration.ZERO)) {
            ended(master);
            return;
        }
        Mono<?> release = Mono.defer(() -> masters.backend(master).release(claim))
                .timeout(masters.limit(claim.lease()), masters.timer())
                .retryWhen(Retry.from(failures -> failures.concatMap(failed -> again(failed, next))));
        Mono<?> begun = next.pause().isZero()
                ? release
                : Mono.delay(next.pause(), masters.timer()).then(release);
        var unused = begun.doFinally(signal -> ended(master))
                .subscribe(
                        released -> {},
                        error -> Masters.LOG.debug(
                                "lock '{}': the vote of {} is left to expire: {}",
                                Printable.text(claim.key().name()),
                                Printable.text(masters.name(master)),
                                Printable.text(error.toString())));
    }

    /** No timer of its own for the end of the lease: most releases are answered at once, and there are many. */
    private Mono<Long> again(Retry.RetrySignal failed, Release release) {
        Duration pause = JitteredBackoff.afterFailures(FIRST_PAUSE, failed.totalRetries(), masters.random());
        return closing || isExpired(release, pause) || failed.totalRetries() >= MOST_TRIES
                ? Mono.error(failed.failure())
                : Mono.delay(pause, masters.timer());
    }

    private boolean isExpired(Release release, Duration after) {
        return release.expiresAtNanos() - masters.now() - after.toNanos() <= 0;
    }

    private void ended(int master) {
        backlogs.get(master).end();
        end();
        sendThoseThatWait(master);
    }

    private void end() {
        if (underWay.decrementAndGet() == 0 && closing) {
            Sinks.EmitResult unused = idle.tryEmitEmpty();
        }
    }

    /** Those that wait are among them. */
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
