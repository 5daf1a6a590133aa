package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Deadlines;
import io.holdfast.spi.support.SignalSink;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.scheduler.Scheduler;

/** The claims of this client that have a place in etcd, or may have one, and the subscribers to their signals. */
final class Claims {

    private final Map<String, Tracked> tracked = new ConcurrentHashMap<>();

    /** By the key that goes before them in their line. Of several readers behind one writer, the last is known. */
    private final Map<ByteSequence, Follower> followers = new ConcurrentHashMap<>();

    private final Map<String, List<SignalSink>> sinks = new ConcurrentHashMap<>();
    private final Scheduler scheduler;
    private final Deadlines deadlines;
    private final Consumer<Tracked> onOverdue;

    Claims(Scheduler scheduler, Consumer<Tracked> onOverdue) {
        this.scheduler = scheduler;
        this.onOverdue = onOverdue;
        deadlines = new Deadlines(scheduler);
    }

    Tracked of(LockClaim claim) {
        return tracked.computeIfAbsent(claim.id(), id -> new Tracked(claim, onOverdue));
    }

    @Nullable
    Tracked known(String id) {
        return tracked.get(id);
    }

    Collection<Tracked> all() {
        return tracked.values();
    }

    boolean isEmpty() {
        return tracked.isEmpty();
    }

    /**
     * A claim that waits for the end of another one, and for nothing else.
     *
     * @param created the revision of its place then; with another place it waits for something else
     */
    record Follower(Tracked claim, long created) {}

    /** Notes that the place of the claim with this revision waits for this key only. */
    void follow(Tracked it, long created, ByteSequence key) {
        followNothing(it, key);
        followers.put(key, new Follower(it, created));
    }

    private void followNothing(Tracked it, @Nullable ByteSequence next) {
        ByteSequence before = it.follow(next);
        if (before != null && !before.equals(next)) {
            var unused = followers.computeIfPresent(before, (same, known) -> known.claim() == it ? null : known);
        }
    }

    /** {@return the claim of this client that waits for the end of this one} */
    @Nullable
    Follower follower(Tracked it, Layout layout) {
        Follower next = followers.get(it.place(layout));
        Follower found =
                next != null || it.role() == LockKind.MUTEX ? next : followers.get(layout.mark(it.key(), it.id()));
        return found == null || found.claim().isReleased() ? null : found;
    }

    void changed(String id) {
        signal(id, new WatchSignal.Changed());
    }

    void remove(Tracked it) {
        followNothing(it, null);
        deadlines.off(it);
        boolean unused = tracked.remove(it.id(), it);
    }

    void removeIfIdle(Tracked it) {
        if (it.isIdle()) {
            remove(it);
        }
    }

    /** Sets when the client deletes the place, unless the claim is renewed before. */
    void keepFor(Tracked it, Duration time) {
        if (tracked.get(it.id()) == it) {
            long until = scheduler.now(NANOSECONDS) + time.toNanos();
            it.keepUntil(until);
            deadlines.set(it, until);
        }
    }

    void stopDeadlines() {
        tracked.values().forEach(deadlines::off);
    }

    boolean isWatched(String id) {
        return sinks.containsKey(id);
    }

    void subscribe(LockClaim claim, CoreSubscriber<? super WatchSignal> subscriber, Consumer<String> onLastCancel) {
        SignalSink sink = new SignalSink(claim.id(), subscriber, it -> cancelled(it, onLastCancel));
        sinks.computeIfAbsent(claim.id(), id -> new CopyOnWriteArrayList<>()).add(sink);
        subscriber.onSubscribe(sink);
    }

    private void cancelled(SignalSink sink, Consumer<String> onLastCancel) {
        List<SignalSink> left = sinks.computeIfPresent(sink.claimId(), (id, all) -> {
            all.remove(sink);
            return all.isEmpty() ? null : all;
        });
        if (left == null) {
            onLastCancel.accept(sink.claimId());
        }
    }

    void signal(String id, WatchSignal signal) {
        for (SignalSink sink : sinks.getOrDefault(id, List.of())) {
            sink.accept(signal);
            if (sink.isDue()) {
                var unused = scheduler.schedule(sink);
            }
        }
    }

    /** The places on this lease are gone. */
    void leaseEnded(EtcdLease lease) {
        for (Tracked it : tracked.values()) {
            if (it.lease() == lease) {
                signal(it.id(), it.lose() ? new WatchSignal.Lost(LossReason.DISCONNECTED) : new WatchSignal.Changed());
            }
        }
    }

    void fail(Throwable error) {
        sinks.values().forEach(all -> all.forEach(sink -> sink.fail(error)));
        sinks.clear();
    }
}
