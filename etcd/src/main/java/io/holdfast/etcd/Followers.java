package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.LockKind;
import io.holdfast.etcd.Watches.Wish;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The waiters of this client, by the key before them. While another waiter of this client has that key, no watch is needed: this client itself
 * ends that one. If it holds the lock, another client may adopt it. So what has to wait longer for a holder gets a watch, which misses nothing:
 * it begins at the revision that the waiter has read.
 */
final class Followers {

    /** How long a waiter behind a holder of its own client has no watch, at most. */
    private static final Duration UNWATCHED = Duration.ofMillis(100);

    private final Scheduler scheduler;
    private final Consumer<Wish> watch;

    /** The claims by their slots. */
    private final Map<ByteSequence, Tracked> claims = new ConcurrentHashMap<>();

    /** By the key that goes before them in their line. Of several readers behind one writer, the last is known. */
    private final Map<ByteSequence, Follower> followers = new ConcurrentHashMap<>();

    private final AtomicBoolean isTimed = new AtomicBoolean();
    private volatile boolean isStopped;

    /** A claim that waits for the end of another one, and for nothing else. */
    record Follower(Tracked claim, ByteSequence place, Wish wish, AtomicBoolean isWatched) {

        /** {@return the revision of its place; with another place it waits for something else} */
        long created() {
            return wish.created();
        }
    }

    Followers(Scheduler scheduler, Consumer<Wish> watch) {
        this.scheduler = scheduler;
        this.watch = watch;
    }

    void occupied(ByteSequence slot, Tracked by) {
        claims.put(slot, by);
    }

    /** The place of the claim waits for this key only. */
    void add(Tracked it, ByteSequence place, ByteSequence blocker, Wish wish) {
        forget(it, blocker);
        Follower added = new Follower(it, place, wish, new AtomicBoolean());
        Follower former = followers.put(blocker, added);
        if (former != null && former.claim != it) {
            watch(former); // the claim before it has entered again, with the same key
        }
        watchIfNeeded(blocker, added, false); // after it was added: the other claim may end meanwhile
    }

    private void watchIfNeeded(ByteSequence blocker, Follower it, boolean isLate) {
        Tracked before = claims.get(blocker);
        boolean isWaiter = before != null && before.isBefore(it.created()) && !(isLate && before.tokenIfHeld() != 0);
        if (!isWaiter) {
            watch(it);
        } else if (!isStopped && isTimed.compareAndSet(false, true)) {
            var unused = scheduler.schedule(this::watchIfNeeded, UNWATCHED.toNanos(), NANOSECONDS);
        }
    }

    private void watch(Follower it) {
        if (it.isWatched.compareAndSet(false, true)) {
            watch.accept(it.wish);
        }
    }

    private void watchIfNeeded() {
        isTimed.set(false);
        followers.forEach((blocker, it) -> {
            if (!it.isWatched.get() && it.claim.tokenIfHeld() == 0) {
                watchIfNeeded(blocker, it, true);
            }
        });
    }

    /** It follows none any more, or the one with the next key. */
    void forget(Tracked it, @Nullable ByteSequence next) {
        ByteSequence before = it.follow(next);
        if (before != null && !before.equals(next)) {
            var unused = followers.computeIfPresent(before, (same, known) -> known.claim == it ? null : known);
        }
    }

    /** {@return the claim of this client that waits for the end of this one; the caller tells it} */
    @Nullable
    Follower take(Tracked it, ByteSequence place, Layout layout) {
        Follower next = followers.remove(place);
        Follower found = next == null && it.role() == LockKind.WRITE ? followers.remove(layout.mark(place)) : next;
        return found == null || found.claim.isReleased() ? null : found;
    }

    /** A claim has left its slot. Returns what has waited for it. */
    @Nullable
    Tracked left(ByteSequence slot, Tracked it) {
        claims.remove(slot, it);
        Follower next = followers.remove(slot);
        return next == null ? null : next.claim;
    }

    void stop() {
        isStopped = true;
    }
}
