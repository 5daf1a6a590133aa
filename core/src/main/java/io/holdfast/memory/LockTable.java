package io.holdfast.memory;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.internal.timing.Tombstones;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All locks of one back end. Keeps nothing for a lock without holders and waiters: requests for other locks remove the
 * data of expired claims.
 *
 * <p>Times are nanoseconds on the server's clock; only their differences count. Not thread-safe.
 */
public final class LockTable {

    /** How long a pushed grant lasts without a confirmation. */
    public static final long CLAIM_NANOS = LockQueue.CLAIM_NANOS;

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final Map<LockId, LockQueue> queues = new HashMap<>();

    private final Tombstones tombstones = new Tombstones();

    private final Map<LockId, EndedRuns> endedRuns = new HashMap<>();

    private final Tokens tokens = new Tokens();
    private final Predicate<String> isWatched;
    private final long[] examined = new long[1];

    /** Written by {@link #sweepInTime}. */
    private long lastSweepNanos;

    /**
     * Makes an empty table.
     *
     * @param isWatched whether a push to the claim with this id would reach a watch now
     * @param now the server's time
     */
    public LockTable(Predicate<String> isWatched, long now) {
        this.isWatched = isWatched;
        this.lastSweepNanos = now;
    }

    /**
     * Grants the lock to a claim, confirms it, queues the claim, or only answers.
     *
     * @param claim the claim
     * @param now the server's time
     * @return the answer, and the grants to push
     * @throws IllegalArgumentException if the token floor is out of range
     */
    public Outcome<LockAttempt> tryAcquire(LockClaim claim, long now) {
        Tokens.check(claim.tokenFloor());
        sweepInTime(now);
        if (tombstones.contains(claim.id())) {
            return new Outcome<>(new LockAttempt.Contended(claim.lease()), List.of());
        }
        LockId lock = LockId.of(claim.key());
        LockQueue queue = queues.get(lock);
        if (queue == null) {
            queue = new LockQueue(tokens, isWatched, examined);
            queues.put(lock, queue);
        }
        Outcome<LockAttempt> outcome = queue.tryAcquire(claim, now);
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * Sets a new expiry for a held claim; never grants the lock to it.
     *
     * @param claim the claim
     * @param now the server's time
     * @return the answer, and the grants to push
     */
    public Outcome<Renewal> renew(LockClaim claim, long now) {
        sweepInTime(now);
        LockQueue queue = queues.get(LockId.of(claim.key()));
        return queue == null ? LockQueue.NOT_RENEWED : queue.renew(claim, now);
    }

    /**
     * Sets a new expiry for a claim that holds the lock with this token; never grants the lock to it.
     *
     * @param claim the claim
     * @param token its token
     * @param now the server's time
     * @return the answer, and the grants to push
     */
    public Outcome<Renewal> adopt(LockClaim claim, long token, long now) {
        sweepInTime(now);
        LockQueue queue = queues.get(LockId.of(claim.key()));
        return queue == null || tombstones.contains(claim.id())
                ? LockQueue.NOT_RENEWED
                : queue.adopt(claim, token, now);
    }

    /**
     * Ends a claim, whatever its state.
     *
     * @param claim the claim
     * @param now the server's time
     * @return the answer, and the grants and changes to push
     */
    public Outcome<Ownership> release(LockClaim claim, long now) {
        sweepInTime(now);
        LockId lock = LockId.of(claim.key());
        LockQueue queue = queues.get(lock);
        if (queue == null || queue.lastAttempt(claim.id()) < claim.attempt()) {
            tombstones.add(claim.id(), now);
        }
        if (queue == null) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        Outcome<Ownership> outcome = queue.release(claim, now);
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * Ends a run, if it has the lock, and serves the next waiters.
     *
     * @param claim a claim of the run
     * @param number the number of the run
     * @param served how many members are over
     * @param now the server's time
     * @return the answer, and the grants to push
     */
    public Outcome<LockRun.End> endRun(LockClaim claim, long number, int served, long now) {
        sweepInTime(now);
        LockId lock = LockId.of(claim.key());
        EndedRuns ended = endedRuns.get(lock);
        boolean wasEnded = ended != null && ended.contains(number);
        LockQueue queue = queues.get(lock);
        if (queue == null) {
            return new Outcome<>(
                    new LockRun.End(wasEnded ? Ownership.HELD : Ownership.NOT_HELD, Optional.empty()), List.of());
        }
        Outcome<LockRun.End> outcome = queue.endRun(claim, number, served, wasEnded, now);
        if (!wasEnded && outcome.answer().ownership() == Ownership.HELD) {
            endedRuns.computeIfAbsent(lock, it -> new EndedRuns()).add(number, now);
        }
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * Records that a watch of a claim has opened.
     *
     * @param claim the claim
     */
    public void watched(LockClaim claim) {
        LockQueue queue = queues.get(LockId.of(claim.key()));
        if (queue != null) {
            queue.watched(claim.id());
        }
    }

    /**
     * Ends expired leases, and grants the locks to their next waiters. Without this, the next attempt for a lock does.
     *
     * @param now the server's time
     * @return the grants to push
     */
    public List<Push> serveAfterExpiries(long now) {
        List<Push> pushes = new ArrayList<>();
        queues.values().forEach(queue -> pushes.addAll(queue.serveAfterExpiry(now)));
        return pushes;
    }

    /**
     * Returns the holders of a lock. Changes nothing.
     *
     * @param key the lock
     * @param now the server's time
     * @return the holders, lower tokens first
     */
    public List<LockHolder> holders(LockKey key, long now) {
        LockQueue queue = queues.get(LockId.of(key));
        return queue == null ? List.of() : queue.holders(now);
    }

    /**
     * Returns reports on the locks of one name. Changes nothing.
     *
     * @param name the name of the locks
     * @param now the server's time
     * @return reports on locks that are held or waited for
     */
    public List<LockReport> reports(String name, long now) {
        return Stream.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE)
                .map(kind -> new LockId(kind, name))
                .flatMap(lock -> report(lock, queues.get(lock), now))
                .toList();
    }

    /**
     * Returns reports on all locks. Changes nothing.
     *
     * @param now the server's time
     * @return reports on locks that are held or waited for, in no order
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
     * Ends the hold of a claim for an operator, and signals the loss to the claim.
     *
     * @param key the lock
     * @param claimId the claim
     * @param now the server's time
     * @return the answer, and the signals to push
     */
    public Outcome<Ownership> breakHold(LockKey key, String claimId, long now) {
        LockId lock = LockId.of(key);
        LockQueue queue = queues.get(lock);
        if (queue == null) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        Outcome<Ownership> outcome = queue.breakHold(claimId, now);
        if (outcome.answer() == Ownership.HELD) {
            // otherwise the client of a Redlock restores it here before it is broken at the other masters
            tombstones.add(claimId, now);
        }
        dropIfEmpty(lock, queue);
        return outcome;
    }

    /**
     * Describes the claims that hold or wait.
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
     * Counts the withdrawn claims that are remembered, because an attempt of theirs may still arrive.
     *
     * @param now the server's time
     * @return the number of tombstones
     */
    public int tombstones(long now) {
        sweep(now);
        return tombstones.size();
    }

    /**
     * Counts the claims that requests have examined so far, for tests: the work must not grow with the queue.
     *
     * @return a number that rises
     */
    public long examined() {
        return examined[0];
    }

    /** Removes everything but the last token. */
    public void clear() {
        queues.clear();
        tombstones.clear();
        endedRuns.clear();
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
        tombstones.sweep(now);
        endedRuns.values().removeIf(it -> now - it.atNanos >= Tombstones.LASTS_NANOS);
    }

    /** The two sides of a read/write lock share one queue; other kinds of the same name are other locks. */
    private record LockId(LockKind family, String name) {

        static LockId of(LockKey key) {
            return new LockId(key.kind() == LockKind.READ ? LockKind.WRITE : key.kind(), key.name());
        }
    }
}
