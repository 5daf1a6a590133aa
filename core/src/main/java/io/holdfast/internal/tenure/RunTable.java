package io.holdfast.internal.tenure;

import io.holdfast.LockHolder;
import io.holdfast.LossReason;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.internal.run.Validity;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.AcquiredRun;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.WatchSignal.GrantedRun;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The runs of one client by lock, and the claims that they serve. Not thread-safe. */
class RunTable {

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    /** As long as the back end may still answer with a run that this client has ended. */
    private static final long LATE_NANOS = Duration.ofSeconds(5).toNanos();

    private static final long MILLI = 1_000_000;

    /** The last run of a lock that has begun here. A grant of it, or of an earlier one, begins nothing. */
    private record Begun(StoreFed run, long untilNanos) {}

    /** The open watches of this client. */
    private final Function<String, @Nullable MemberWatch> watches;

    private final Map<String, StoreFed> runs = new HashMap<>();
    private final Map<String, LocalClaim> claims = new HashMap<>();
    private final Map<String, Begun> begun = new HashMap<>();
    private long lastSweepNanos;

    RunTable(Function<String, @Nullable MemberWatch> watches, long now) {
        this.watches = watches;
        lastSweepNanos = now;
    }

    boolean knows(String id) {
        return claims.containsKey(id);
    }

    boolean isIdle() {
        return claims.isEmpty();
    }

    /** Returns the tenure of a claim that has the lock by a run. */
    @Nullable
    Tenure owned(String id) {
        LocalClaim claim = claims.get(id);
        return claim != null && claim.standing == Standing.OWNER && claim.of.holding == claim.tenure
                ? claim.tenure
                : null;
    }

    /** Handles a run in the answer to an attempt. Returns the answer for the claim. */
    LockAttempt answered(LockClaim attempt, AcquiredRun answer, long sentAt, long now, List<Effect> out) {
        granted(attempt, answer, sentAt, now, out);
        LocalClaim claim = claims.get(attempt.id());
        Tenure tenure = owned(attempt.id());
        if (claim != null && tenure != null) {
            return acquired(claim, tenure);
        }
        long within = Math.min(
                StoreDurations.leaseNanos(answer.lease()), attempt.lease().toNanos() / 3);
        return new Queued(Duration.ofNanos(Math.max(MILLI, within)));
    }

    private static LockAttempt acquired(LocalClaim claim, Tenure tenure) {
        claim.validUntilNanos = tenure.validUntilNanos;
        return new Acquired(claim.token, Duration.ofNanos(tenure.leaseFor(claim)));
    }

    /** Handles the answer to the renewal that an attempt of the owner has become. */
    LockAttempt confirmed(Tenure tenure, LockClaim attempt, long sentAt, Renewal answer, long now, List<Effect> out) {
        renewed(tenure, attempt.id(), sentAt, answer, now, out);
        LocalClaim claim = claims.get(attempt.id());
        if (claim == null || owned(attempt.id()) != tenure) {
            return TenureRules.soon();
        }
        claim.attempt = attempt.attempt();
        claim.attemptedAtNanos = sentAt;
        return acquired(claim, tenure);
    }

    /** Handles a pushed run, or a loss. Returns whether the signal was not for the claim alone. */
    boolean signalled(MemberWatch watch, WatchSignal signal, long now, List<Effect> out) {
        LockClaim claim = watch.claim();
        if (signal instanceof GrantedRun pushed) {
            if (watch.lastAttempt() == pushed.attempt()) {
                AcquiredRun acquired = new AcquiredRun(pushed.run(), pushed.lease());
                granted(claim, acquired, watch.attemptedAtNanos(), now, out);
            } else {
                out.add(new Effect.Push(watch, new WatchSignal.Changed()));
            }
            return true;
        }
        StoreFed run = runs.get(claim.key().name());
        if (signal instanceof WatchSignal.Lost lost && run != null && run.holding != null && run.isMember(claim.id())) {
            run.lose(run.holding, lost.reason(), out);
            clear(run);
            return true;
        }
        return false;
    }

    /** Handles a run that the back end has granted: serves it once. */
    void granted(LockClaim of, AcquiredRun granted, long sentAt, long now, List<Effect> out) {
        sweepInTime(now, out);
        long lease = StoreDurations.leaseNanos(granted.lease());
        if (Validity.isOver(Validity.until(sentAt, lease), now)) {
            return; // the members send their next attempts
        }
        String name = of.key().name();
        LockRun run = granted.run();
        StoreFed present = runs.get(name);
        if (present != null && present.number() == run.number()) {
            present.proven(sentAt, lease, now, out);
            clear(present);
            return;
        }
        Begun last = begun.get(name);
        if (last != null && run.number() <= last.run().number()) {
            if (run.number() == last.run().number()) {
                last.run().endAgain(out);
            }
            return;
        }
        if (present != null && present.holding != null) {
            present.lose(present.holding, LossReason.NOT_HELD, out);
            clear(present);
        }
        begin(name, rules(of, run, this::fresh), run, sentAt, lease, now, out);
    }

    StoreFed rules(LockClaim of, LockRun run, Function<String, @Nullable LocalClaim> byId) {
        return new StoreFed(of, run, byId);
    }

    private void begin(
            String name, StoreFed run, LockRun granted, long sentAt, long lease, long now, List<Effect> out) {
        runs.put(name, run);
        begun.put(name, new Begun(run, now + run.leaseNanos + LATE_NANOS));
        for (String id : granted.members()) {
            MemberWatch watch = watches.apply(id);
            if (watch != null && !claims.containsKey(id)) { // otherwise it has had the lock in an earlier run
                LocalClaim member = new LocalClaim(id, run);
                member.standing = watch.hasLeft() ? Standing.OUTSIDE : Standing.WAITING;
                member.tenure = run.holding;
                claims.put(id, member);
            }
        }
        run.begin(sentAt, lease, now, out);
        clear(run);
    }

    /** Returns a claim with its last attempt, and its watch if that is open. */
    private @Nullable LocalClaim fresh(String id) {
        LocalClaim claim = claims.get(id);
        if (claim != null && claim.standing == Standing.WAITING) {
            MemberWatch watch = watches.apply(id);
            claim.watch = watch;
            if (watch != null) {
                claim.attempt = watch.lastAttempt();
                claim.attemptedAtNanos = watch.attemptedAtNanos();
            }
        }
        return claim;
    }

    /** Forgets the members of a run that is over, but for those that have had the lock and were not released. */
    private void clear(StoreFed run) {
        if (run.holding == null && runs.remove(run.key.name(), run)) {
            claims.values()
                    .removeIf(
                            it -> it.of == run && (it.standing == Standing.WAITING || it.standing == Standing.OUTSIDE));
        }
    }

    /** Returns the renewal of the run in place of that of its owner; null to renew the claim itself. */
    Reply.@Nullable Ask<Renewal> renew(LockClaim renewal, long now) {
        Tenure tenure = owned(renewal.id());
        if (tenure == null) {
            return null;
        }
        tenure.shorten(renewal.lease(), now);
        return new Reply.Ask<>(tenure, tenure.claim().withLease(renewal.lease()));
    }

    void renewed(Tenure tenure, String id, long sentAt, Renewal answer, long now, List<Effect> out) {
        tenure.of.renewed(tenure, claims.get(id), sentAt, answer, now, out);
        clear((StoreFed) tenure.of);
    }

    /** Handles the answer to {@link Effect.Prove}; null for a failure. */
    void proved(Tenure tenure, long sentAt, @Nullable Renewal answer, long now, List<Effect> out) {
        StoreFed run = (StoreFed) tenure.of;
        run.proved(sentAt, answer, now, out);
        clear(run);
    }

    /** Decides about a release. {@link Reply.Ask} is one to end the run. */
    Reply<Ownership> release(LockClaim release, long now, List<Effect> out) {
        sweepInTime(now, out);
        LocalClaim claim = claims.get(release.id());
        if (claim == null) {
            return new Reply.Forward<>();
        }
        boolean hadLock = claim.standing == Standing.OWNER;
        StoreFed run = (StoreFed) claim.of;
        Reply<Ownership> reply = run.release(claim, now, out);
        if (hadLock && !(reply instanceof Reply.Ask<Ownership>)) {
            claims.remove(claim.id);
        }
        clear(run);
        return reply;
    }

    void releaseConfirmed(String id) {
        LocalClaim claim = claims.get(id);
        if (claim != null && claim.standing == Standing.LEAVING) {
            claims.remove(id);
        }
    }

    /** The claim goes on in a client that adopts it. The back end ends its run. */
    void exported(String id, List<Effect> out) {
        Tenure tenure = owned(id);
        if (tenure != null) {
            StoreFed run = (StoreFed) tenure.of;
            claims.remove(id);
            run.exported(out);
            clear(run);
        }
    }

    LockHolder holder(String name, LockHolder atStore) {
        StoreFed run = runs.get(name);
        Tenure tenure = run == null ? null : run.holding;
        return tenure != null && tenure.owner != null && tenure.atStore.id().equals(atStore.claimId())
                ? tenure.owner.shown(atStore)
                : atStore;
    }

    private void sweepInTime(long now, List<Effect> out) {
        if (now - lastSweepNanos < SWEEP_NANOS) {
            return;
        }
        lastSweepNanos = now;
        for (StoreFed run : List.copyOf(runs.values())) {
            run.settle(now, out);
            clear(run);
        }
        claims.values().removeIf(it -> it.of.isForgotten(it, now));
        begun.values().removeIf(it -> Validity.isOver(it.untilNanos(), now));
    }

    List<String> contents() {
        return claims.values().stream()
                .map(it -> "'%s' in a run: claim %s".formatted(it.of.key.name(), it))
                .toList();
    }
}
