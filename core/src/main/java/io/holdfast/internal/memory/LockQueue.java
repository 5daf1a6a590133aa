package io.holdfast.internal.memory;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * One lock: who holds it, who waits for it, and what a request makes of that.
 *
 * <ul>
 *   <li>Each attempt and release first ends the holders whose lease is over and drops the waiters that are stale, then makes
 *       holders of the first waiters that the lock admits. So an expiry needs no timer: waiters look again in time.
 *   <li>Whoever looks stands in the queue for the length of the attempt, a claim that must not wait included. So nobody passes
 *       a waiter that lives.
 *   <li>A claim of a semaphore that takes several permits holds back those behind it until all of them are free, also those that would fit.
 *   <li>A waiter that is made holder by somebody else's request learns it by a push, and holds for the {@link #CLAIM_NANOS
 *       claim time} only, until it confirms: a dead one must not cost the next one a lease.
 * </ul>
 *
 * <p>Times are nanoseconds on the server's clock; only their differences count. Not thread-safe.
 */
final class LockQueue {

    /** How long a pushed grant lasts without being confirmed; also how often the first waiters look for a dead holder. */
    static final long CLAIM_NANOS = Duration.ofSeconds(2).toNanos();

    /** Those behind look a little later than those in front, so that the front one finds an expiry first. */
    private static final long NANOS_PER_PLACE = Duration.ofMillis(10).toNanos();

    private static final int FIRST_PLACES = 2;
    private static final int MOST_INTERESTED = 256;

    /** No claim has it: ids are not empty. */
    private static final String NO_CLAIM = "";

    private final Map<String, Holder> holders = new LinkedHashMap<>();
    private final Map<String, Waiter> waiters = new LinkedHashMap<>();
    private final Map<String, Waiter> interested = new LinkedHashMap<>();
    private final Tokens tokens;
    private final Predicate<String> isWatched;

    /**
     * Before then nothing ends: no lease of a holder, and no place of a waiter. May be too early, since a renewal puts an end off. Written by
     * {@link #endsAt} and {@link #settle}.
     */
    private long nothingEndsBefore;

    /** Whether there may be something that ends. Written as the other. */
    private boolean mayEnd;

    /** How many permits the holders have taken together. Written where {@link #holders} is. */
    private long taken;

    /**
     * A lock that nobody holds.
     *
     * @param tokens of the store
     * @param isWatched whether a push to the claim with this id would reach somebody now
     */
    LockQueue(Tokens tokens, Predicate<String> isWatched) {
        this.tokens = tokens;
        this.isWatched = isWatched;
    }

    Outcome<LockAttempt> look(LockClaim look, long now) {
        settle(now);
        // Overtaken by a later attempt of the same claim: what that one did must stand, so this one only gets an
        // answer.
        boolean overtaken = look.attempt() < lastAttempt(look.id());
        Holder standing = holders.get(look.id());
        if (standing != null) {
            return attemptOf(standing, look, overtaken, now);
        }
        boolean isLast = false;
        if (!overtaken) {
            interested.remove(look.id());
            Waiter waiter = new Waiter(look, now);
            endsAt(waiter.staleAtNanos());
            isLast = waiters.put(look.id(), waiter) == null;
        }
        List<Push> pushes = promote(overtaken ? NO_CLAIM : look.id(), now);
        Holder holder = holders.get(look.id());
        if (holder != null) {
            return new Outcome<>(overtaken ? holder.standing(now) : confirm(holder, look, now), pushes);
        }
        Duration nextAttemptWithin = nextAttemptWithin(look, isLast ? waiters.size() : place(look.id()), now);
        if (!overtaken && look.waiting() != Waiting.QUEUE) {
            pushes.addAll(leaveQueue(look, now));
        }
        return new Outcome<>(
                waiters.containsKey(look.id())
                        ? new LockAttempt.Queued(nextAttemptWithin)
                        : new LockAttempt.Contended(nextAttemptWithin),
                pushes);
    }

    /** A writer may become a reader, and never the other way round. Each other look for the other side is not available. */
    private Outcome<LockAttempt> attemptOf(Holder holder, LockClaim look, boolean overtaken, long now) {
        boolean otherSide = holder.look().key().kind() != look.key().kind();
        if (otherSide && (overtaken || look.key().kind() != LockKind.READ)) {
            Duration nextAttemptWithin = nextAttemptWithin(look, waiters.size() + 1, now);
            return new Outcome<>(new LockAttempt.Contended(nextAttemptWithin), promote(NO_CLAIM, now));
        }
        LockAttempt answer = overtaken ? holder.standing(now) : confirm(holder, look, now);
        List<Push> pushes = promote(NO_CLAIM, now);
        if (otherSide) {
            tellInterested(pushes);
        }
        return new Outcome<>(answer, pushes);
    }

    /** Also the confirmation of a pushed grant. */
    Renewal renew(LockClaim claim, long now) {
        Holder holder = holders.get(claim.id());
        if (holder == null || holder.isOver(now)) {
            return new Renewal.NotHeld();
        }
        hold(claim.id(), holder.until(now + nanos(claim.lease())));
        return new Renewal.Held(claim.lease());
    }

    Outcome<Ownership> release(LockClaim claim, long now) {
        settle(now);
        Holder held = holders.remove(claim.id());
        taken -= held == null ? 0 : held.permits();
        boolean queued = waiters.remove(claim.id()) != null;
        interested.remove(claim.id());
        List<Push> pushes = promote(NO_CLAIM, now);
        if (held != null || queued) {
            tellInterested(pushes);
        }
        return new Outcome<>(held != null ? Ownership.HELD : Ownership.NOT_HELD, pushes);
    }

    private void tellInterested(List<Push> pushes) {
        interested.keySet().forEach(id -> pushes.add(new Push(id, new WatchSignal.Changed())));
        interested.clear();
    }

    /**
     * The number of the claim's last attempt that was processed, 0 when none is on record. Looks of a released claim that are still
     * under way are those above it.
     */
    int lastAttempt(String id) {
        Holder holder = holders.get(id);
        if (holder != null) {
            return holder.look().attempt();
        }
        Waiter waiter = waiters.getOrDefault(id, interested.get(id));
        return waiter == null ? 0 : waiter.look().attempt();
    }

    /** Ends what time has ended. Promotes nobody: the next attempt does. */
    void settle(long now) {
        if (!mayEnd || nothingEndsBefore - now > 0) {
            return;
        }
        holders.values().removeIf(holder -> holder.isOver(now));
        waiters.values().removeIf(waiter -> waiter.isStale(now));
        interested.values().removeIf(waiter -> waiter.isStale(now));
        mayEnd = false;
        taken = 0;
        holders.values().forEach(holder -> {
            endsAt(holder.expiryNanos());
            taken += holder.permits();
        });
        waiters.values().forEach(waiter -> endsAt(waiter.staleAtNanos()));
        interested.values().forEach(waiter -> endsAt(waiter.staleAtNanos()));
    }

    private void endsAt(long nanos) {
        if (!mayEnd || nanos - nothingEndsBefore < 0) {
            nothingEndsBefore = nanos;
            mayEnd = true;
        }
    }

    private void hold(String id, Holder holder) {
        endsAt(holder.expiryNanos());
        Holder before = holders.put(id, holder);
        taken += holder.permits() - (before == null ? 0 : before.permits());
    }

    boolean isEmpty() {
        return holders.isEmpty() && waiters.isEmpty() && interested.isEmpty();
    }

    /** Those that hold the lock, lower tokens first. Ends nothing. */
    List<LockHolder> holders(long now) {
        return holders.values().stream()
                .filter(holder -> !holder.isOver(now))
                .sorted(Comparator.comparingLong(Holder::token))
                .map(holder -> holder.shown(now))
                .toList();
    }

    /** Whether there is nothing to report of it. */
    boolean isIdle(long now) {
        return holders.values().stream().allMatch(it -> it.isOver(now))
                && waiters.values().stream().allMatch(it -> it.isStale(now))
                && interested.values().stream().allMatch(it -> it.isStale(now));
    }

    LockReport report(String name, LockReport.Type type, long now) {
        List<LockHolder> held = holders(now);
        List<Waiter> queued =
                waiters.values().stream().filter(it -> !it.isStale(now)).toList();
        long wanted =
                interested.values().stream().filter(it -> !it.isStale(now)).count();
        return new LockReport(
                name,
                type,
                held.size(),
                held.stream().limit(LockReport.MOST_HOLDERS).toList(),
                queued.size(),
                queued.stream()
                        .limit(LockReport.MOST_WAITERS)
                        .map(it -> it.shown(now))
                        .toList(),
                held.isEmpty()
                        ? OptionalLong.empty()
                        : OptionalLong.of(held.get(held.size() - 1).fencingToken()),
                wanted == 0 ? Map.of() : Map.of("want a hint", Long.toString(wanted)),
                List.of());
    }

    /** A release in the name of the holder, which is told of its loss. */
    Outcome<Ownership> breakHold(String id, long now) {
        Holder holder = holders.get(id);
        if (holder == null || holder.isOver(now)) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        Outcome<Ownership> released = release(holder.look(), now);
        List<Push> pushes = new ArrayList<>(released.pushes());
        pushes.add(new Push(id, new WatchSignal.Lost(LossReason.NOT_HELD)));
        return new Outcome<>(released.answer(), pushes);
    }

    List<String> contents() {
        List<String> lines = new ArrayList<>();
        holders.values().forEach(it -> lines.add("%s with token %d".formatted(line("held", it.look()), it.token())));
        waiters.values().forEach(it -> lines.add(line("queued", it.look())));
        interested.values().forEach(it -> lines.add(line("interested", it.look())));
        return lines;
    }

    private static String line(String standing, LockClaim claim) {
        return "%s '%s' %s by claim %s"
                .formatted(claim.key().kind(), claim.key().name(), standing, claim.id());
    }

    /** Makes holders of the first waiters that the lock admits, and tells all but the caller, who gets an answer instead. */
    private List<Push> promote(String caller, long now) {
        List<Push> pushes = new ArrayList<>();
        for (Iterator<Waiter> inOrder = waiters.values().iterator(); inOrder.hasNext(); ) {
            Waiter next = inOrder.next();
            String id = next.look().id();
            boolean isCaller = id.equals(caller);
            if (!isCaller && !isWatched.test(id)) {
                continue; // nobody would hear of the grant: passed over, but the place is kept until stale
            }
            if (!admits(next.look())) {
                break; // and with it all behind: this is what keeps a writer, or a claim of many permits, from starving
            }
            inOrder.remove();
            Holder holder = grant(next, now);
            if (!isCaller) {
                pushes.add(new Push(id, holder.granted(next)));
            }
        }
        return pushes;
    }

    private boolean admits(LockClaim claim) {
        return switch (claim.key().kind()) {
            case MUTEX, WRITE -> holders.isEmpty();
            case READ ->
                holders.values().stream().noneMatch(it -> it.look().key().kind() == LockKind.WRITE);
            case SEMAPHORE -> taken + claim.permits() <= claim.key().permits();
        };
    }

    private Holder grant(Waiter waiter, long now) {
        LockClaim look = waiter.look();
        long expiry = now + Math.min(CLAIM_NANOS, nanos(look.lease()));
        Holder holder = new Holder(look, tokens.next(look.tokenFloor()), now, expiry);
        hold(look.id(), holder);
        return holder;
    }

    private LockAttempt confirm(Holder holder, LockClaim look, long now) {
        long token = tokens.raised(holder.token(), look.tokenFloor());
        hold(look.id(), new Holder(look, token, holder.sinceNanos(), now + nanos(look.lease())));
        return new LockAttempt.Acquired(token, look.lease());
    }

    /** A claim that had a place and gives it up may have held back those behind it. */
    private List<Push> leaveQueue(LockClaim look, long now) {
        Waiter waiter = requireNonNull(waiters.remove(look.id()));
        if (look.waiting() == Waiting.NOTIFY) {
            interested.put(look.id(), waiter);
            if (interested.size() > MOST_INTERESTED) {
                interested.remove(interested.keySet().iterator().next());
            }
        }
        return promote(NO_CLAIM, now);
    }

    private Duration nextAttemptWithin(LockClaim look, int place, long now) {
        long firstExpiry = firstExpiryIn(now);
        long within = Math.min(firstExpiry + NANOS_PER_PLACE * place, nanos(look.lease()) / 3);
        long bounded = place <= FIRST_PLACES ? Math.min(within, CLAIM_NANOS) : within;
        return Duration.ofNanos(Math.max(1, bounded));
    }

    private long firstExpiryIn(long now) {
        long first = Long.MAX_VALUE;
        for (Holder holder : holders.values()) {
            first = Math.min(first, holder.expiryNanos() - now);
        }
        return holders.isEmpty() ? 0 : first;
    }

    /** 1 for the first; behind all when not in the queue. */
    private int place(String id) {
        int place = 1;
        for (Iterator<String> ids = waiters.keySet().iterator();
                ids.hasNext() && !ids.next().equals(id); ) {
            place++;
        }
        return place;
    }

    private static long nanos(Duration lease) {
        return lease.toNanos();
    }
}
