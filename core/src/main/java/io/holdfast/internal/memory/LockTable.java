package io.holdfast.internal.memory;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.internal.timing.Tombstones;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * All locks of one back end. Keeps nothing for a lock without holders and waiters: requests for other locks remove the
 * data of expired claims. Times are nanoseconds; only their differences count. Not thread-safe.
 */
public final class LockTable {

    public static final long CLAIM_NANOS = LockQueue.CLAIM_NANOS;

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final Map<LockId, LockQueue> queues = new HashMap<>();
    private final Tombstones tombstones = new Tombstones();
    private final Map<Ender, EndedRuns> endedRuns = new HashMap<>();
    private final Tokens tokens = new Tokens();
    private final Predicate<String> isWatched;
    private final long[] examined = new long[1];
    private long lastSweepNanos;

    /** {@code isWatched}: whether a push to the claim with this id would reach a watch now. */
    public LockTable(Predicate<String> isWatched, long now) {
        this.isWatched = isWatched;
        this.lastSweepNanos = now;
    }

    public Outcome<LockAttempt> tryAcquire(LockClaim claim, long now) {
        Tokens.check(claim.tokenFloor());
        sweepInTime(now);
        if (tombstones.contains(claim.id())) {
            return new Outcome<>(new LockAttempt.Contended(claim.lease()), List.of());
        }
        LockId lock = LockId.of(claim.key());
        LockQueue queue = queue(lock);
        return kept(lock, queue, queue.tryAcquire(claim, now));
    }

    public Outcome<Renewal> renew(LockClaim claim, long now) {
        sweepInTime(now);
        return queue(LockId.of(claim.key())).renew(claim, now);
    }

    public Outcome<Renewal> adopt(LockClaim claim, long token, long now) {
        sweepInTime(now);
        return tombstones.contains(claim.id())
                ? LockQueue.NOT_RENEWED
                : queue(LockId.of(claim.key())).adopt(claim, token, now);
    }

    public Outcome<Ownership> release(LockClaim claim, long now) {
        sweepInTime(now);
        LockId lock = LockId.of(claim.key());
        LockQueue queue = queue(lock);
        if (queue.lastAttempt(claim.id()) < claim.attempt()) {
            tombstones.add(claim.id(), now);
        }
        return kept(lock, queue, queue.release(claim, now));
    }

    public Outcome<LockRun.End> endRun(LockClaim claim, long number, int served, long now) {
        sweepInTime(now);
        LockId lock = LockId.of(claim.key());
        Ender ender = new Ender(lock, claim.client());
        EndedRuns ended = endedRuns.get(ender);
        boolean wasEnded = ended != null && ended.contains(number);
        LockQueue queue = queue(lock);
        Outcome<LockRun.End> outcome = kept(lock, queue, queue.endRun(claim, number, served, wasEnded, now));
        if (!wasEnded && outcome.answer().ownership() == Ownership.HELD) {
            endedRuns.computeIfAbsent(ender, it -> new EndedRuns()).add(number, now);
        }
        return outcome;
    }

    public void watched(LockClaim claim) {
        queue(LockId.of(claim.key())).watched(claim.id());
    }

    /** Ends expired leases, and grants the locks to their next waiters. Otherwise, the next attempt for a lock does. */
    public List<Push> serveAfterExpiries(long now) {
        List<Push> pushes = new ArrayList<>();
        queues.values().forEach(queue -> pushes.addAll(queue.serveAfterExpiry(now)));
        return pushes;
    }

    public List<LockHolder> holders(LockKey key, long now) {
        return queue(LockId.of(key)).holders(now);
    }

    public List<LockReport> reports(String name, long now) {
        return Stream.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE)
                .map(kind -> new LockId(kind, name))
                .flatMap(lock -> report(lock, queue(lock), now))
                .toList();
    }

    public List<LockReport> reports(long now) {
        return queues.entrySet().stream()
                .flatMap(lock -> report(lock.getKey(), lock.getValue(), now))
                .toList();
    }

    private static Stream<LockReport> report(LockId lock, LockQueue queue, long now) {
        return queue.isIdle(now)
                ? Stream.empty()
                : Stream.of(queue.report(lock.name(), LockReport.Type.of(lock.family()), now));
    }

    public Outcome<Ownership> breakHold(LockKey key, String claimId, long now) {
        LockId lock = LockId.of(key);
        LockQueue queue = queue(lock);
        Outcome<Ownership> outcome = kept(lock, queue, queue.breakHold(claimId, now));
        if (outcome.answer() == Ownership.HELD) {
            // otherwise the client of a Redlock restores it here before it is broken at the other masters
            tombstones.add(claimId, now);
        }
        return outcome;
    }

    public List<String> contents(long now) {
        sweep(now);
        return queues.values().stream()
                .flatMap(queue -> queue.contents().stream())
                .toList();
    }

    public int tombstones(long now) {
        sweep(now);
        return tombstones.size();
    }

    /** Counts the claims that requests have examined so far, for tests: the work must not grow with the queue. */
    public long examined() {
        return examined[0];
    }

    /** Removes everything but the last token. */
    public void clear() {
        queues.clear();
        tombstones.clear();
        endedRuns.clear();
    }

    /** A new queue is kept only if the request leaves a claim in it. */
    private LockQueue queue(LockId lock) {
        LockQueue queue = queues.get(lock);
        return queue != null ? queue : new LockQueue(tokens, isWatched, examined);
    }

    private <A> Outcome<A> kept(LockId lock, LockQueue queue, Outcome<A> outcome) {
        if (queue.isEmpty()) {
            queues.remove(lock);
        } else {
            queues.put(lock, queue);
        }
        return outcome;
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

    /** A client that has ended runs of a lock: the runs of others do not make it forgotten. */
    private record Ender(LockId lock, String client) {}

    /** The two sides of a read/write lock share one queue; other kinds of the same name are other locks. */
    private record LockId(LockKind family, String name) {

        static LockId of(LockKey key) {
            return new LockId(key.kind() == LockKind.READ ? LockKind.WRITE : key.kind(), key.name());
        }
    }
}
