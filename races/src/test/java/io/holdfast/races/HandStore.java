package io.holdfast.races;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A back end of one lock. A race answers attempts and renewals by hand, and sends signals by hand, so that the answer itself can be one side of the
 * race. Releases are answered at once, unless a race holds one back.
 */
public final class HandStore implements LockBackend {

    private static final long TOKEN = 7;

    private final AtomicInteger attempts = new AtomicInteger();
    private final AtomicInteger renewals = new AtomicInteger();
    private final AtomicInteger releases = new AtomicInteger();
    private final AtomicInteger renewalsAfterRelease = new AtomicInteger();

    // The latest of each; written by the thread that sends the request.
    private volatile @Nullable MonoSink<LockAttempt> attempt;
    private volatile @Nullable MonoSink<Renewal> renewal;
    private volatile @Nullable FluxSink<WatchSignal> watch;

    private volatile @Nullable Runnable release;
    private volatile boolean holdsReleases;

    private volatile Duration lease = Duration.ZERO;

    /** Whether the claim holds the lock, as this back end sees it. */
    private volatile boolean held;

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.create(sink -> {
            lease = claim.lease();
            attempts.incrementAndGet();
            attempt = sink;
        });
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return Mono.create(sink -> {
            if (releases.get() > 0) {
                renewalsAfterRelease.incrementAndGet();
            }
            renewals.incrementAndGet();
            renewal = sink;
        });
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return Mono.create(sink -> {
            releases.incrementAndGet();
            Ownership answer = held ? Ownership.HELD : Ownership.NOT_HELD;
            held = false;
            if (holdsReleases) {
                holdsReleases = false;
                Runnable late = () -> sink.success(answer);
                release = late;
            } else {
                sink.success(answer);
            }
        });
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.create(sink -> watch = sink);
    }

    @Override
    public Set<LockFeature> features() {
        return Set.of();
    }

    @Override
    public String name() {
        return "by hand";
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    /** Grants the lock and answers the attempt in flight. */
    public void grant() {
        MonoSink<LockAttempt> asked = attempt;
        if (asked != null) {
            held = true;
            asked.success(new LockAttempt.Acquired(TOKEN, lease));
        }
    }

    /** Answers the renewal in flight, if there is one. */
    public void answerRenewal(Renewal answer) {
        MonoSink<Renewal> asked = renewal;
        if (asked != null) {
            asked.success(answer);
        }
    }

    /** Fails the renewal in flight, if there is one. */
    public void failRenewal() {
        MonoSink<Renewal> asked = renewal;
        if (asked != null) {
            asked.error(new LockBackendException("a", "on purpose", true, null));
        }
    }

    /** Carries out the next release at once, but lets the race answer it. */
    public void holdReleases() {
        holdsReleases = true;
    }

    /** Answers the release that was held back. */
    public void answerRelease() {
        Runnable late = release;
        if (late != null) {
            late.run();
        }
    }

    /** Sends a signal to the watch of the claim, if there is one. */
    public void signal(WatchSignal signal) {
        FluxSink<WatchSignal> watching = watch;
        if (watching != null) {
            watching.next(signal);
        }
    }

    /** Frees the lock without a signal. */
    public void forget() {
        held = false;
    }

    public boolean isHeld() {
        return held;
    }

    public int attempts() {
        return attempts.get();
    }

    public int renewals() {
        return renewals.get();
    }

    public int renewalsAfterRelease() {
        return renewalsAfterRelease.get();
    }

    public int releases() {
        return releases.get();
    }

    /** Returns the state of the lock and the number of releases, as the outcomes name them. */
    public String standing() {
        String standing = held ? "held" : "free";
        return switch (releases.get()) {
            case 0 -> standing;
            case 1 -> standing + ", released";
            default -> standing + ", released " + releases.get() + " times";
        };
    }
}
