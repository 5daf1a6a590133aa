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
 * A store of one lock whose looks, renewals and signals are answered by hand, so that the answer itself can be one side of a race.
 * Releases are answered at once, unless one is held back.
 */
public final class HandStore implements LockBackend {

    private static final long TOKEN = 7;

    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicInteger renewals = new AtomicInteger();
    private final AtomicInteger releases = new AtomicInteger();
    private final AtomicInteger renewalsAfterRelease = new AtomicInteger();

    // All below: the latest of each; written by the thread that asks.
    private volatile @Nullable MonoSink<LockAttempt> look;
    private volatile @Nullable MonoSink<Renewal> renewal;
    private volatile @Nullable FluxSink<WatchSignal> watch;

    private volatile @Nullable Runnable release;
    private volatile boolean holdsReleases;

    private volatile Duration lease = Duration.ZERO;

    /** Whether the store takes the lock as held by the claim. */
    private volatile boolean held;

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.create(sink -> {
            lease = claim.lease();
            looks.incrementAndGet();
            look = sink;
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
        MonoSink<LockAttempt> asked = look;
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

    /** The next release is carried out at once and answered by hand. */
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

    /** Signals, if somebody watches. */
    public void signal(WatchSignal signal) {
        FluxSink<WatchSignal> watching = watch;
        if (watching != null) {
            watching.next(signal);
        }
    }

    /** The store forgets the lock without telling anybody. */
    public void forget() {
        held = false;
    }

    public boolean isHeld() {
        return held;
    }

    public int looks() {
        return looks.get();
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

    /** What it knows in a word. */
    public String standing() {
        String standing = held ? "held" : "free";
        return switch (releases.get()) {
            case 0 -> standing;
            case 1 -> standing + ", released";
            default -> standing + ", released " + releases.get() + " times";
        };
    }
}
