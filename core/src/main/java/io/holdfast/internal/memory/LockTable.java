package io.holdfast.internal.memory;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All locks of one store. Keeps nothing for a lock that nobody holds or waits for: what time has ended without anybody asking
 * is swept away by the requests for other locks.
 *
 * <p>Times are nanoseconds on the server's clock; only their differences count. Not thread-safe.
 */
public final class LockTable {

    /** Longer than a withdrawn look may stay under way: an operation timeout is at most 2 s by default. */
    static final long TOMBSTONE_NANOS = Duration.ofSeconds(5).toNanos();

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final Map<LockId, LockQueue> queues = new HashMap<>();

    /** Claim id to the end of its tombstone; in the order of those ends. */
    private final Map<String, Long> tombstones = new LinkedHashMap<>();

    private final Tokens tokens = new Tokens();
    private final Predicate<String> isWatched;

    /** Written by {@link #sweepInTime}. */
    private long lastSweepNanos;

    /**
     * An empty table.
     *
     * @param isWatched whether a push to the claim with this id would reach somebody now
     * @param now the server's time
     */
    public LockTable(Predicate<String> isWatched, long now) {
        this.isWatched = isWatched;
        this.lastSweepNanos = now;
    }

    /**
     * Takes the lock, keeps it, queues, or just looks.
     *
     * @param look the claim
     * @param now the server's time
     * @return the answer, and whom to tell of a grant
     * @throws IllegalArgumentException if the token floor is out of range
     */
    public Outcome<LockAttempt> look(LockClaim look, long now) {
        Tokens.check(look.tokenFloor());
        sweepInTime(now);
        if (tombstones.containsKey(look.id())) {
            return new Outcome<>(new LockAttempt.Contended(look.lease()), List.of());
        }
        LockId lock = LockId.of(look.key());
        LockQueue queue = queues.computeIfAbsent(lock, it -> new LockQueue(tokens, isWatched));
        Outcome<LockAttempt> outcome = queue.look(look, now);
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * Sets the expiry of a held claim anew; never creates.
     *
     * @param claim the claim
     * @param now the server's time
     * @return the answer
     */
    public Renewal renew(LockClaim claim, long now) {
        sweepInTime(now);
        LockQueue queue = queues.get(LockId.of(claim.key()));
        return queue == null ? new Renewal.NotHeld() : queue.renew(claim, now);
    }

    /**
     * Ends the claim whatever its standing.
     *
     * @param claim the claim
     * @param now the server's time
     * @return the answer, and whom to tell of a grant or a change
     */
    public Outcome<Ownership> release(LockClaim claim, long now) {
        sweepInTime(now);
        LockId lock = LockId.of(claim.key());
        LockQueue queue = queues.get(lock);
        if (queue == null || queue.lastAttempt(claim.id()) < claim.attempt()) {
            bury(claim.id(), now);
        }
        if (queue == null) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        Outcome<Ownership> outcome = queue.release(claim, now);
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * The holders of a lock. Changes nothing.
     *
     * @param key which lock
     * @param now the server's time
     * @return those with lower tokens first
     */
    public List<LockHolder> holders(LockKey key, long now) {
        LockQueue queue = queues.get(LockId.of(key));
        return queue == null ? List.of() : queue.holders(now);
    }

    /**
     * What is known of the locks of one name. Changes nothing.
     *
     * @param name of the locks
     * @param now the server's time
     * @return those that are held or waited for
     */
    public List<LockReport> reports(String name, long now) {
        return Stream.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE)
                .map(kind -> new LockId(kind, name))
                .flatMap(lock -> report(lock, queues.get(lock), now))
                .toList();
    }

    /**
     * What is known of all locks. Changes nothing.
     *
     * @param now the server's time
     * @return those that are held or waited for, in no order
     */
    public List<LockReport> reports(long now) {
        return queues.entrySet().stream()
                .flatMap(lock -> report(lock.getKey(), lock.getValue(), now))
                .toList();
    }

    private static Stream<LockReport> report(LockId lock, @Nullable LockQueue queue, long now) {
        return queue == null || queue.isIdle(now)
                ? Stream.empty()
                : Stream.of(queue.report(lock.name(), LockReport.Type.of(lock.family()), now));
    }

    /**
     * Ends the hold of a claim for an operator, and tells the claim.
     *
     * @param key of the lock
     * @param claimId which claim
     * @param now the server's time
     * @return the answer, and whom to tell of what
     */
    public Outcome<Ownership> breakHold(LockKey key, String claimId, long now) {
        LockId lock = LockId.of(key);
        LockQueue queue = queues.get(lock);
        if (queue == null) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        Outcome<Ownership> outcome = queue.breakHold(claimId, now);
        if (outcome.answer() == Ownership.HELD) {
            bury(claimId, now); // or the client of a Redlock restores it here before it is broken at the other masters
        }
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * What is held or waited for.
     *
     * @param now the server's time
     * @return one line per claim, in no particular order of locks
     */
    public List<String> contents(long now) {
        sweep(now);
        return queues.values().stream()
                .flatMap(queue -> queue.contents().stream())
                .toList();
    }

    /**
     * How many withdrawn claims are remembered because an attempt of theirs may still come.
     *
     * @param now the server's time
     * @return how many
     */
    public int tombstones(long now) {
        sweep(now);
        return tombstones.size();
    }

    /** Forgets everything but the last token. */
    public void clear() {
        queues.clear();
        tombstones.clear();
    }

    /** An attempt of this claim may still be under way, and must not take or queue when it comes. */
    private void bury(String id, long now) {
        tombstones.remove(id);
        tombstones.put(id, now + TOMBSTONE_NANOS);
    }

    private void dropIfEmpty(LockId lock, LockQueue queue) {
        if (queue.isEmpty()) {
            queues.remove(lock);
        }
    }

    private void sweepInTime(long now) {
        if (now - lastSweepNanos >= SWEEP_NANOS) {
            sweep(now);
        }
    }

    private void sweep(long now) {
        lastSweepNanos = now;
        queues.values().forEach(queue -> queue.settle(now));
        queues.values().removeIf(LockQueue::isEmpty);
        Iterator<Long> ends = tombstones.values().iterator();
        while (ends.hasNext() && ends.next() - now <= 0) {
            ends.remove();
        }
    }

    /** The two sides of a read/write lock share one queue; the other kinds of the same name are other locks. */
    private record LockId(LockKind family, String name) {

        static LockId of(LockKey key) {
            return new LockId(key.kind() == LockKind.READ ? LockKind.WRITE : key.kind(), key.name());
        }
    }
}
