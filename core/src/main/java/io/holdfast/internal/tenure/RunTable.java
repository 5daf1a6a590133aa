package io.holdfast.internal.tenure;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LossReason;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.AcquiredRun;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.WatchSignal.GrantedRun;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The runs of one client by lock, and the claims that they serve. Not thread-safe. */
class RunTable extends Decisions {

    /** An answer to a request older than this begins nothing: the run may be over here, and forgotten. */
    private static final long LATE_NANOS = Duration.ofSeconds(5).toNanos();

    /**
     * A token of a lock: each run with this number or a lower one is over here, and a grant of it begins nothing.
     *
     * @param run the run with this number, if it began here
     */
    record Over(long number, @Nullable StoreFed run, long untilNanos) {}

    /** By claim, until the claim is over. Also used without the monitor. */
    final Map<String, MemberWatch> watches = new ConcurrentHashMap<>();

    private final Map<LockKey, StoreFed> runs = new HashMap<>();
    final Map<LockKey, Over> over = new HashMap<>();

    RunTable(long now) {
        super(now);
    }

    /** Returns the key of its runs: readers end runs of writers. */
    private static LockKey lock(LockKey key) {
        return key.kind() == LockKind.READ ? LockKey.of(LockKind.WRITE, key.name()) : key;
    }

    /** Returns the tenure of an owner, whose attempt becomes a renewal. Any other claim that sends one waits, or waits again. */
    @Nullable
    Tenure attempts(String id) {
        Tenure tenure = owned(id);
        LocalClaim claim = claims.get(id);
        if (tenure == null && claim != null && claim.standing == Standing.OWNER) {
            claims.remove(id); // it has not taken its grant, and the run is over
        }
        return tenure;
    }

    @Override
    @Nullable
    Tenure owned(String id) {
        LocalClaim claim = claims.get(id);
        return claim != null && claim.standing == Standing.OWNER && claim.of.holding == claim.tenure
                ? claim.tenure
                : null;
    }

    LockAttempt answered(LockClaim attempt, AcquiredRun answer, long sentAt, Moment at) {
        grantedInAnAnswer(attempt, answer, sentAt, at);
        LocalClaim claim = claims.get(attempt.id());
        Tenure tenure = owned(attempt.id());
        if (claim != null && tenure != null) {
            return acquired(claim, tenure);
        }
        long within = Math.min(
                StoreDurations.leaseNanos(answer.lease()), attempt.lease().toNanos() / 3);
        return new Queued(Duration.ofNanos(Math.max(TenureRules.MILLI, within)));
    }

    private static LockAttempt acquired(LocalClaim claim, Tenure tenure) {
        claim.validUntilNanos = tenure.validUntilNanos;
        return new Acquired(claim.token, Duration.ofNanos(tenure.leaseFor(claim)));
    }

    LockAttempt confirmed(Tenure tenure, LockClaim attempt, long sentAt, Renewal answer, Moment at) {
        renewed(tenure, attempt.id(), sentAt, answer, at);
        LocalClaim claim = claims.get(attempt.id());
        if (claim == null || owned(attempt.id()) != tenure) {
            return TenureRules.soon();
        }
        claim.attempt = attempt.attempt();
        claim.attemptedAtNanos = sentAt;
        return acquired(claim, tenure);
    }

    /** Handles a grant or a loss. Returns whether the signal was not for the claim alone. */
    boolean signalled(MemberWatch watch, WatchSignal signal, Moment at) {
        LockClaim claim = watch.claim;
        if (signal instanceof GrantedRun pushed) {
            long sentAt = watch.attemptedAtNanos;
            long lease = StoreDurations.leaseNanos(pushed.lease());
            if (watch.lastAttempt == pushed.attempt() && !Validity.isOver(Validity.until(sentAt, lease), at.now())) {
                granted(claim, new AcquiredRun(pushed.run(), pushed.lease()), sentAt, at);
            } else {
                at.out().add(new Effect.Push(watch, new WatchSignal.Changed()));
            }
            return true;
        }
        if (!(signal instanceof WatchSignal.LostRun lost)) {
            return false;
        }
        StoreFed run = runs.get(lock(claim.key()));
        if (run == null || run.lockRun.number() < lost.number()) {
            overtaken(run, at);
            note(lock(claim.key()), lost.number(), null, claim.lease().toNanos(), at.now());
        } else if (run.holding != null && run.lockRun.number() == lost.number()) {
            run.lose(run.holding, lost.reason(), at);
            clear(run, at.now());
        }
        return true;
    }

    /** A claim has got the lock alone: runs with lower tokens are over at the back end. */
    void grantedAlone(LockClaim claim, boolean mayHaveBeenAMember, long token, Moment at) {
        sweepInTime(at);
        MemberWatch watch = watches.get(claim.id());
        if (watch != null) {
            watch.tokenAlone = Math.max(watch.tokenAlone, token);
        }
        LockKey lock = lock(claim.key());
        StoreFed run = runs.get(lock);
        if (run != null && run.lockRun.lastToken() < token) {
            overtaken(run, at);
        }
        if (mayHaveBeenAMember || run != null || over.containsKey(lock)) {
            note(lock, token, null, claim.lease().toNanos(), at.now());
        }
    }

    /** The back end has given the lock to others after this run. */
    private void overtaken(@Nullable StoreFed run, Moment at) {
        if (run != null && run.holding != null) {
            run.lose(run.holding, LossReason.NOT_HELD, at);
            clear(run, at.now());
        }
    }

    /** What this client knows of runs that are over is forgotten after some time, so an answer must not be older. */
    void grantedInAnAnswer(LockClaim of, AcquiredRun granted, long sentAt, Moment at) {
        if (at.now() - sentAt <= rememberedNanos(of.lease().toNanos())) {
            granted(of, granted, sentAt, at);
        }
    }

    private void granted(LockClaim of, AcquiredRun granted, long sentAt, Moment at) {
        sweepInTime(at);
        long lease = StoreDurations.leaseNanos(granted.lease());
        if (Validity.isOver(Validity.until(sentAt, lease), at.now())) {
            return; // the members send their next attempts
        }
        LockKey lock = of.key();
        LockRun run = granted.run();
        StoreFed present = runs.get(lock);
        if (present != null && present.lockRun.number() == run.number()) {
            present.proven(sentAt, lease, at);
            clear(present, at.now());
            return;
        }
        Over last = over.get(lock);
        if (last != null && run.number() <= last.number()) {
            if (run.number() == last.number() && last.run() != null) {
                last.run().endAgain(at);
            }
            return;
        }
        StoreFed begun = begun(run);
        if (begun != null) {
            begun.endAgain(at);
            return;
        }
        if (present != null && present.holding != null) {
            if (run.number() < present.lockRun.number()) {
                return;
            }
            overtaken(present, at);
        }
        begin(lock, rules(aMember(run, of), run, this::fresh), run, sentAt, lease, at);
    }

    /** Returns the rules of a run that has begun here, and was forgotten before the last request of an owner is answered. */
    private @Nullable StoreFed begun(LockRun run) {
        for (String id : run.members()) {
            LocalClaim owner = claims.get(id);
            if (owner != null && owner.of instanceof StoreFed of && of.lockRun.number() == run.number()) {
                return of;
            }
        }
        return null;
    }

    /** The run in the answer to the end of another one may have another lease. */
    private LockClaim aMember(LockRun run, LockClaim otherwise) {
        for (String id : run.members()) {
            MemberWatch watch = watches.get(id);
            if (watch != null) {
                return watch.claim;
            }
        }
        return otherwise;
    }

    StoreFed rules(LockClaim of, LockRun run, Function<String, @Nullable LocalClaim> byId) {
        return new StoreFed(of, run, byId);
    }

    private void begin(LockKey lock, StoreFed run, LockRun granted, long sentAt, long lease, Moment at) {
        runs.put(lock, run);
        for (String id : granted.members()) {
            MemberWatch watch = watches.get(id);
            if (watch != null && !claims.containsKey(id)) { // otherwise it has had the lock in an earlier run
                LocalClaim member = new LocalClaim(id, run);
                member.standing = watch.tokenAlone > granted.number() ? Standing.OUTSIDE : Standing.WAITING;
                member.tenure = run.holding;
                claims.put(id, member);
            }
        }
        run.begin(sentAt, lease, at);
        clear(run, at.now());
    }

    /** Returns a claim with its last attempt, and its watch if that is open. Its client keeps the watch until the claim is over. */
    private @Nullable LocalClaim fresh(String id) {
        LocalClaim claim = claims.get(id);
        if (claim != null && claim.standing == Standing.WAITING) {
            MemberWatch watch = watches.get(id);
            if (watch == null) {
                claim.standing = Standing.OUTSIDE;
            } else {
                claim.watch = watch.isOpen() ? watch : null;
                claim.attempt = watch.lastAttempt;
                claim.attemptedAtNanos = watch.attemptedAtNanos;
            }
        }
        return claim;
    }

    /** Forgets the members of a run that is over, but for those that have had the lock and were not released. */
    private void clear(StoreFed run, long now) {
        if (run.holding != null || !runs.remove(run.key, run)) {
            return;
        }
        note(run, now);
        for (String id : run.lockRun.members()) {
            LocalClaim claim = claims.get(id);
            if (claim != null
                    && claim.of == run
                    && (claim.standing == Standing.WAITING || claim.standing == Standing.OUTSIDE)) {
                claims.remove(id);
            }
        }
    }

    /** At its end here, and again at its end at the back end: an answer that was under way then must begin nothing. */
    private void note(StoreFed run, long now) {
        note(run.key, run.lockRun.number(), run, run.leaseNanos, now);
    }

    /** No request takes longer than a third of a lease. */
    private void note(LockKey lock, long number, @Nullable StoreFed run, long leaseNanos, long now) {
        Over last = over.get(lock);
        if (last == null || last.number() < number || (last.number() == number && run != null)) {
            over.put(lock, new Over(number, run, now + rememberedNanos(leaseNanos)));
        }
    }

    private static long rememberedNanos(long leaseNanos) {
        return Math.max(LATE_NANOS, leaseNanos / 3);
    }

    @Override
    void renewed(Tenure tenure, String id, long sentAt, Renewal answer, Moment at) {
        tenure.of.renewed(tenure, claims.get(id), sentAt, answer, at);
        clear((StoreFed) tenure.of, at.now());
    }

    /** Decides about a release. {@link Reply.Ask} is one to end the run. */
    Reply<Ownership> release(LockClaim release, Moment at) {
        sweepInTime(at);
        LocalClaim claim = claims.get(release.id());
        if (claim == null) {
            return new Reply.Forward<>();
        }
        boolean hadLock = claim.standing == Standing.OWNER;
        StoreFed run = (StoreFed) claim.of;
        Reply<Ownership> reply = run.release(claim, at);
        if (hadLock && !(reply instanceof Reply.Ask<Ownership>)) {
            forget(claim, release, at);
        }
        clear(run, at.now());
        return reply;
    }

    /** From now on, a request to go on alone is void. So if the release is sent again, it only ends the run. */
    void releasedAlone(String id) {
        LocalClaim claim = claims.get(id);
        if (claim != null && claim.of instanceof StoreFed run) {
            run.releasedAlone(claim);
        }
    }

    void releaseConfirmed(LockClaim release, Moment at) {
        LocalClaim claim = claims.get(release.id());
        if (claim != null && claim.standing == Standing.LEAVING) {
            note((StoreFed) claim.of, at.now());
            forget(claim, release, at);
        }
    }

    /** An attempt that was not answered may arrive later, and would queue the claim again. */
    private void forget(LocalClaim claim, LockClaim release, Moment at) {
        claims.remove(claim.id);
        if (claim.watch instanceof MemberWatch watch && watch.isUnanswered()) {
            at.out().add(new Effect.Release(release));
        }
    }

    /**
     * Returns the attempt of a writer to go on as a reader, as it is sent; null if the claim was released. Only the owner of a
     * run names its client: the back end may still take a claim that was released for a member, and would end the run.
     */
    @Nullable
    LockClaim downgrade(LockClaim attempt, Moment at) {
        LocalClaim claim = claims.get(attempt.id());
        if (claim != null && claim.standing == Standing.LEAVING) {
            return null;
        }
        return goesOnAlone(attempt.id(), at) ? attempt : attempt.withClient("");
    }

    /**
     * An owner asks to go on alone, as a reader or by an adoption. With that, the back end ends its run. Returns whether it may
     * ask, perhaps again.
     */
    boolean goesOnAlone(String id, Moment at) {
        LocalClaim claim = claims.get(id);
        if (claim != null && owned(id) != null) {
            StoreFed run = (StoreFed) claim.of;
            run.goesOnAlone(claim, at);
            clear(run, at.now());
        }
        return claim != null && claim.standing == Standing.PARTING;
    }

    /** Without an answer, the claim stays until its release, which ends the run if the back end still has it. */
    void answeredAlone(String id, boolean isHeld, Moment at) {
        LocalClaim claim = claims.get(id);
        if (claim == null || !StoreFed.isAlone(claim) || (!isHeld && claim.standing == Standing.LEAVING)) {
            return;
        }
        StoreFed run = (StoreFed) claim.of;
        claims.remove(id);
        note(run, at.now());
        MemberWatch next = watches.get(run.nextId());
        if (!isHeld) {
            run.isNotAlone(at);
        } else if (next != null) {
            at.out().add(new Effect.Push(next, new WatchSignal.Changed()));
        }
    }

    @Override
    LockHolder holder(LockKey key, LockHolder atStore) {
        StoreFed run = runs.get(lock(key));
        Tenure tenure = run == null ? null : run.holding;
        return tenure != null && tenure.owner != null && tenure.atStore.id().equals(atStore.claimId())
                ? tenure.owner.shown(atStore)
                : atStore;
    }

    private void sweepInTime(Moment at) {
        if (!isTimeToSweep(at.now())) {
            return;
        }
        for (StoreFed run : List.copyOf(runs.values())) {
            run.settle(at);
            clear(run, at.now());
        }
        claims.values().removeIf(it -> it.of.isForgotten(it, at.now()));
        over.values().removeIf(it -> Validity.isOver(it.untilNanos(), at.now()));
    }
}
