package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.master.ReleaseBacklog.Admission;
import io.holdfast.redlock.internal.master.ReleaseBacklog.Release;
import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Releases votes that are not needed, in the background: each with its time limit, again after a failure, until the
 * master has ended the vote by itself. Bounded for each master, so that a master that hangs does not use up the
 * releases of the others: see {@link ReleaseBacklog}. Votes beyond the bound are left to expire.
 */
public final class BackgroundReleases {

    /** How many releases may await an answer of one master. */
    public static final int MOST_UNDER_WAY = 2_000;

    /** Enough for thousands of attempts that are cancelled at once. Some megabytes. */
    public static final int MOST_WAITING = 20_000;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

    /** A master that answers again soon has its votes released. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

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
        if (add(master, claim)) {
            sendWaiting(master);
        }
    }

    /** Releases the claim at that master after a failed release. */
    public void releaseAgain(int master, LockClaim claim) {
        if (add(master, claim)) {
            pause(master);
        }
    }

    private boolean add(int master, LockClaim claim) {
        underWay.incrementAndGet();
        long expiresAtNanos = masters.now() + claim.lease().toNanos();
        Admission admission = backlogs.get(master).add(new Release(claim, expiresAtNanos));
        if (admission == Admission.ADDED) {
            return true;
        }
        end();
        if (admission == Admission.FIRST_REFUSED) {
            Fallible.tell(() -> Masters.LOG.warn(
                    "{} releases wait at {}, so further votes there are left to expire, the first of lock '{}'; does it answer?",
                    MOST_WAITING,
                    Printable.text(masters.name(master)),
                    Printable.text(claim.key().name())));
        }
        return false;
    }

    private void sendWaiting(int master) {
        ReleaseBacklog backlog = backlogs.get(master);
        for (Release next = backlog.begin(false); next != null; next = backlog.begin(true)) {
            if (isExpired(next)) {
                backlog.skipped();
                end();
            } else {
                send(master, next);
            }
        }
    }

    /** The one place that subscribes to releases that no caller waits for. */
    private void send(int master, Release next) {
        try {
            var unused = Mono.defer(() -> masters.backend(master).release(next.claim()))
                    .timeout(masters.limit(next.claim().lease()), masters.timer())
                    .subscribe(
                            released -> {},
                            error -> failed(master, next, error),
                            () -> answered(master),
                            QuorumRequest.NO_CONTEXT);
        } catch (LinkageError | VirtualMachineError thrown) { // Reactor passes on all other errors
            failed(master, next, thrown);
        }
    }

    private void answered(int master) {
        backlogs.get(master).answered();
        masters.silent().answered(master);
        end();
        sendWaiting(master);
    }

    private void failed(int master, Release release, Throwable error) {
        boolean isLeft = closing || isExpired(release);
        backlogs.get(master).failed(isLeft ? null : release);
        if (isLeft) {
            Masters.LOG.debug(
                    "lock '{}': the vote of {} is left to expire: {}",
                    Printable.text(release.claim().key().name()),
                    Printable.text(masters.name(master)),
                    Printable.text(error.toString()));
            end();
        }
        pause(master);
    }

    /** Goes on with the waiting releases after a while. One timer for all of them: there may be many. */
    private void pause(int master) {
        ReleaseBacklog backlog = backlogs.get(master);
        int failures = backlog.pause();
        if (failures == 0) {
            if (closing) {
                sendWaiting(master);
            }
            return;
        }
        Duration pause = JitteredBackoff.afterFailures(FIRST_PAUSE, failures - 1L, masters.random());
        long nanos = Math.min(pause.toNanos(), LONGEST_PAUSE.toNanos());
        try {
            var unused = masters.timer().schedule(() -> resume(master), nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException disposed) {
            Masters.LOG.debug(
                    "{}: the timer was disposed, so votes are left to expire", Printable.text(masters.name(master)));
        }
    }

    private void resume(int master) {
        backlogs.get(master).resume();
        sendWaiting(master);
    }

    private boolean isExpired(Release release) {
        return release.expiresAtNanos() - masters.now() <= 0;
    }

    private void end() {
        if (underWay.decrementAndGet() == 0 && closing) {
            Sinks.EmitResult unused = idle.tryEmitEmpty();
        }
    }

    /** Returns how many releases are under way or wait. */
    public int underWay() {
        return underWay.get();
    }

    /** Completes when no release is under way any more; from now on no release is repeated. */
    public Mono<Void> finish() {
        return Mono.defer(() -> {
            closing = true;
            for (int master : masters.all()) {
                backlogs.get(master).close();
                sendWaiting(master);
            }
            if (underWay.get() == 0) {
                Sinks.EmitResult unused = idle.tryEmitEmpty();
            }
            return idle.asMono();
        });
    }
}
