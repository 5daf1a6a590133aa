package io.holdfast.redlock;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * The signals of one claim. No master is watched at first: most claims get the lock with their first attempt, and give it back soon. The
 * masters are watched from the first attempt on that did not get the lock, or from {@link #UNWATCHED} on, for a claim that still waits or holds
 * then.
 *
 * <p>Nothing is missed by that. The claim is told when it is watched, and makes an attempt then.
 */
final class DeferredWatch extends RequestDeadlines.Deadline implements Candidate.Listener {

    /** So long a claim is not watched. */
    static final Duration UNWATCHED = Duration.ofMillis(50);

    private final Masters masters;
    private final Candidate candidate;
    private final LockClaim claim;
    private final FluxSink<WatchSignal> sink;

    // Both: guarded by this.
    private @Nullable VoteWatch begun;
    private boolean isOver;

    private DeferredWatch(Masters masters, Candidate candidate, LockClaim claim, FluxSink<WatchSignal> sink) {
        this.masters = masters;
        this.candidate = candidate;
        this.claim = claim;
        this.sink = sink;
    }

    /** A subscriber without demand gets the last signal when it wants one: each of them makes the claim look. */
    static Flux<WatchSignal> of(Masters masters, Candidates candidates, LockClaim claim) {
        return Flux.create(
                sink -> new DeferredWatch(masters, candidates.of(claim, masters.now()), claim, sink).start(),
                FluxSink.OverflowStrategy.LATEST);
    }

    private void start() {
        candidate.listenBy(this);
        sink.onDispose(this::stop);
        masters.deadlines.set(this, masters.now() + UNWATCHED.toNanos());
    }

    private void stop() {
        candidate.listenNoMore(this);
        masters.deadlines.off(this);
        VoteWatch watch;
        synchronized (this) {
            isOver = true;
            watch = begun;
        }
        if (watch != null) {
            watch.stop();
        }
    }

    @Override
    void passed() {
        begin();
    }

    @Override
    public void hasToWait() {
        masters.deadlines.off(this);
        begin();
    }

    private void begin() {
        VoteWatch watch;
        synchronized (this) {
            if (isOver || begun != null) {
                return;
            }
            watch = new VoteWatch(masters, candidate, claim, sink);
            begun = watch;
        }
        watch.start();
    }

    @Override
    public void renamed(int master) {
        VoteWatch watch;
        synchronized (this) {
            watch = begun;
        }
        if (watch != null) {
            watch.watchAgain(master);
        }
    }
}
