package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.LockKind;
import io.holdfast.LossReason;
import io.holdfast.etcd.Slots.Slot;
import io.holdfast.etcd.Watches.Wish;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Deadlines;
import io.holdfast.spi.support.Deadlines.Deadline;
import io.holdfast.spi.support.SignalSinks;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The claims of this client that have a place in etcd, or may have one, and the subscribers to their signals. */
final class Claims {

    /** The claim that gets the lock asks at once. One that asks later looks at the store. */
    static final Duration PASSED_ON = Duration.ofSeconds(1);

    private final Map<String, Tracked> tracked = new ConcurrentHashMap<>();
    private final SignalSinks signals = new SignalSinks(Runnable::run);
    private final Slots slots;
    private final Followers followers;
    private final Scheduler scheduler;
    private final Deadlines deadlines;
    private final Consumer<Tracked> onOverdue;
    private final Runnable onNew;

    Claims(Slots slots, Scheduler scheduler, Consumer<Wish> watch, Consumer<Tracked> onOverdue, Runnable onNew) {
        this.slots = slots;
        followers = new Followers(scheduler, watch);
        this.scheduler = scheduler;
        this.onOverdue = onOverdue;
        this.onNew = onNew;
        deadlines = new Deadlines(scheduler);
    }

    Tracked of(LockClaim claim) {
        return tracked.computeIfAbsent(claim.id(), id -> tracked(claim));
    }

    private Tracked tracked(LockClaim claim) {
        onNew.run();
        return new Tracked(claim, onOverdue);
    }

    /** Counts an attempt. The claim stays known until that has ended. */
    Tracked attempting(LockClaim claim) {
        return tracked.compute(claim.id(), (id, known) -> {
            Tracked it = known == null ? tracked(claim) : known;
            it.send(claim.attempt());
            return it;
        });
    }

    @Nullable
    Tracked known(String id) {
        return tracked.get(id);
    }

    Collection<Tracked> all() {
        return tracked.values();
    }

    Followers followers() {
        return followers;
    }

    /** Notes that the place of the claim waits for this key only. */
    void follow(Tracked it, ByteSequence place, ByteSequence blocker, Wish wish) {
        followers.add(it, place, blocker, wish);
        if (tracked.get(it.id()) != it) { // it has ended meanwhile
            followers.forget(it, null);
        }
    }

    /** {@return the key for the place of a claim that enters its line} */
    ByteSequence slot(Tracked it) {
        synchronized (it) {
            Slot known = it.slot();
            if (known != null) {
                return known.key();
            }
            return occupy(it);
        }
    }

    private ByteSequence occupy(Tracked it) {
        Slot slot = slots.take(it.key());
        it.occupy(slot);
        followers.occupied(slot.key(), it);
        return slot.key();
    }

    /** Whether another release of this lock by this client comes before a claim that enters its line now gets it. */
    boolean isFollowed(Tracked it) {
        Slot slot = it.key().kind() == LockKind.MUTEX ? it.slot() : null; // others can be held by several
        return slot != null && slots.isShared(slot);
    }

    /** The place of another claim is in its slot. */
    void leaveSlot(Tracked it, ByteSequence place) {
        Tracked next = null;
        synchronized (it) {
            Slot occupied = it.slot();
            if (occupied != null && occupied.key().equals(place)) {
                next = followers.left(place, it);
                var unused = occupy(it);
                slots.avoid(occupied);
            }
        }
        tell(next);
    }

    /** All before this place of the claim have gone. */
    void passOn(String id, long created) {
        Tracked it = tracked.get(id);
        if (it != null) {
            it.passOn(created, now() + PASSED_ON.toNanos());
        }
        changed(id);
    }

    void changed(String id) {
        signals.signal(id, new WatchSignal.Changed());
    }

    void remove(Tracked it) {
        removeIf(it, any -> true);
    }

    private void removeIf(Tracked it, Predicate<Tracked> isOver) {
        if (tracked.computeIfPresent(it.id(), (id, known) -> known == it && isOver.test(it) ? null : known) != it) {
            followers.forget(it, null);
            deadlines.off(it);
            Slot slot = it.vacate();
            if (slot != null) {
                Tracked next = followers.left(slot.key(), it);
                slots.free(slot);
                tell(next);
            }
        }
    }

    private void tell(@Nullable Tracked next) {
        if (next != null) {
            changed(next.id());
        }
    }

    /** Postpones the next deletion, unless a request has kept the claim for longer. */
    void keepAtLeastFor(Tracked it, Duration time) {
        if (!it.isKept(now() + time.toNanos())) {
            keepFor(it, time);
        }
    }

    void removeIfIdle(Tracked it) {
        removeIf(it, Tracked::isIdle);
    }

    /**
     * Forgets a claim whose place was deleted. What one of its attempts may still write is deleted by the next time. If it is released meanwhile,
     * the release needs to know its key.
     */
    void removeUnlessLate(Tracked it, Duration next) {
        removeIf(it, any -> !it.isReleased() && !it.mayArriveLate(now(), Leases.LATE));
        keepAtLeastFor(it, next);
    }

    /** Sets when the client deletes the place, unless the claim is renewed before. */
    void keepFor(Tracked it, Duration time) {
        if (tracked.get(it.id()) == it) {
            long until = now() + time.toNanos();
            it.keepUntil(until);
            deadlines.set(it, until);
        }
    }

    /** As {@code timeout} does, but without a task of the timer for each request. The result has this one subscriber of the request. */
    <T> Mono<T> limited(Mono<T> request, Duration limit) {
        return Mono.create(sink -> {
            Deadline deadline = new Deadline() {
                @Override
                protected void passed() {
                    sink.error(new TimeoutException());
                }
            };
            deadlines.set(deadline, now() + limit.toNanos());
            Disposable sent = request.subscribe(sink::success, sink::error, sink::success);
            sink.onDispose(Disposables.composite(sent, () -> deadlines.off(deadline)));
        });
    }

    void stopDeadlines() {
        followers.stop();
        tracked.values().forEach(deadlines::off);
    }

    /** Whether a signal would make the claim send an attempt. */
    boolean isWaiting(String id) {
        Tracked it = tracked.get(id);
        return it != null && !it.isReleased() && signals.watched().contains(id);
    }

    SignalSinks signals() {
        return signals;
    }

    /** The places on this lease are gone. */
    void leaseEnded(EtcdLease lease) {
        for (Tracked it : tracked.values()) {
            if (it.lease() == lease) {
                signals.signal(
                        it.id(), it.lose() ? new WatchSignal.Lost(LossReason.DISCONNECTED) : new WatchSignal.Changed());
            }
        }
    }

    long now() {
        return scheduler.now(NANOSECONDS);
    }
}
