package io.holdfast.internal.tenure;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.internal.timing.Tombstones;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The claims of one process by their ids, and the rules of the locks that they want. Not thread-safe. */
class ClaimTable extends Decisions {

    private final BiFunction<LockKey, Duration, ClientFed> rules;

    /** By name; a name has more than one only if lease durations differ. */
    private final Map<String, List<ClientFed>> locks = new HashMap<>();

    private final Tombstones tombstones = new Tombstones();

    ClaimTable(Bounds bounds, long now) {
        this((key, lease) -> new ClientFed(key, lease, bounds), now);
    }

    ClaimTable(BiFunction<LockKey, Duration, ClientFed> rules, long now) {
        super(now);
        this.rules = rules;
    }

    /** Whether it queues for a mutex: only a mutex has one owner at a time. A claim of a quorum has a floor. */
    static boolean concerns(LockClaim claim) {
        return claim.key().kind() == LockKind.MUTEX && claim.waiting() == Waiting.QUEUE && claim.tokenFloor() == 0;
    }

    /** Returns false when the back end signals this claim. */
    boolean watch(LockClaim claim, Consumer<WatchSignal> watch, long now) {
        LocalClaim known = claims.get(claim.id());
        if (known == null) {
            if (!concerns(claim) || tombstones.contains(claim.id())) {
                return false;
            }
            known = add(claim);
            sweepInTime(now);
        }
        known.watch = watch;
        return true;
    }

    void unwatched(String id, Consumer<WatchSignal> watch) {
        LocalClaim claim = claims.get(id);
        if (claim != null && claim.watch == watch) {
            claim.watch = null;
            if (claim.standing == Standing.OUTSIDE) {
                remove(claim);
            }
        }
    }

    Reply<LockAttempt> tryAcquire(LockClaim attempt, Moment at) {
        sweepInTime(at.now());
        LocalClaim claim = claims.get(attempt.id());
        if (claim == null) {
            if (!concerns(attempt)) {
                return attempt.waiting() == Waiting.NONE && hasWaiters(attempt)
                        ? refused(attempt)
                        : new Reply.Forward<>();
            }
            if (tombstones.contains(attempt.id())) {
                return refused(attempt);
            }
            if (attempt.attempt() > 1) {
                return new Reply.Forward<>(); // the claim is older than this table
            }
            claim = add(attempt);
        }
        return rules(claim.of).tryAcquire(claim, attempt.attempt(), at);
    }

    private static Reply<LockAttempt> refused(LockClaim claim) {
        return new Reply.Answer<>(new LockAttempt.Contended(claim.lease().dividedBy(3)));
    }

    private boolean hasWaiters(LockClaim claim) {
        return claim.key().kind() == LockKind.MUTEX
                && locks.getOrDefault(claim.key().name(), List.of()).stream().anyMatch(ClientFed::hasNext);
    }

    LockAttempt answered(Reply.Ask<LockAttempt> asked, String id, LockAttempt answer, Moment at) {
        Tenure tenure = asked.tenure();
        return rules(tenure.of).answered(tenure, asked.claim().attempt(), claims.get(id), answer, at);
    }

    void attemptFailed(Reply.Ask<LockAttempt> asked, String id, Moment at) {
        Tenure tenure = asked.tenure();
        rules(tenure.of).attemptFailed(tenure, asked.claim().attempt(), claims.get(id), at);
    }

    /** Handles the answer to the request for a block of tokens; null when it failed. */
    void reserved(Effect.Reserve asked, @Nullable LockAttempt answer, Moment at) {
        Tenure tenure = asked.tenure();
        rules(tenure.of).reserved(tenure, asked.claim(), answer, at);
    }

    /** Also a tenure that is lost: its owner learns that by the answer. */
    @Override
    @Nullable
    Tenure owned(String id) {
        LocalClaim claim = claims.get(id);
        return claim != null && claim.standing == Standing.OWNER ? claim.tenure : null;
    }

    @Override
    void renewed(Tenure tenure, String id, long sentAtNanos, Renewal answer, Moment at) {
        LocalClaim claim = claims.get(id);
        tenure.of.renewed(tenure, claim, sentAtNanos, answer, at);
        if (claim != null
                && claim.tenure == tenure
                && claim.standing == Standing.OWNER
                && answer instanceof Renewal.NotHeld) {
            // Its client gets the answer and sends no release; a release that was sent already goes on.
            remove(claim);
        }
    }

    Reply<Ownership> release(LockClaim release, Moment at) {
        sweepInTime(at.now());
        LocalClaim claim = claims.get(release.id());
        if (claim == null ? concerns(release) : claim.attempt < release.attempt()) {
            tombstones.add(release.id(), at.now());
        }
        if (claim == null) {
            return new Reply.Forward<>();
        }
        Reply<Ownership> reply = claim.of.release(claim, at);
        if (reply instanceof Reply.Answer<Ownership>) {
            remove(claim);
        }
        return reply;
    }

    void releaseConfirmed(String id) {
        LocalClaim claim = claims.get(id);
        if (claim != null && claim.standing == Standing.LEAVING) {
            remove(claim);
        }
    }

    /** Handles a signal of the back end about a tenure; null when the signals have stopped. */
    void signalled(Tenure tenure, @Nullable WatchSignal signal, Moment at) {
        if (signal == null) {
            rules(tenure.of).signalsStopped(tenure, at);
        } else {
            rules(tenure.of).signalled(tenure, signal, at);
        }
    }

    @Override
    LockHolder holder(LockKey key, LockHolder atStore) {
        for (ClientFed lock : locks.getOrDefault(key.name(), List.of())) {
            Tenure tenure = lock.holding;
            if (tenure != null && tenure.atStore.id().equals(atStore.claimId())) {
                return tenure.owner == null ? atStore : tenure.owner.shown(atStore);
            }
        }
        return atStore;
    }

    /** All rules of this table are of this kind. */
    private static ClientFed rules(TenureRules of) {
        return (ClientFed) of;
    }

    private LocalClaim add(LockClaim claim) {
        LocalClaim added = new LocalClaim(claim.id(), lock(claim));
        added.of.claims++;
        claims.put(claim.id(), added);
        return added;
    }

    private ClientFed lock(LockClaim claim) {
        List<ClientFed> ofName = locks.computeIfAbsent(claim.key().name(), it -> new ArrayList<>(1));
        for (ClientFed lock : ofName) {
            if (lock.lease.equals(claim.lease())) {
                return lock;
            }
        }
        ClientFed made = rules.apply(claim.key(), claim.lease());
        ofName.add(made);
        return made;
    }

    private void remove(LocalClaim claim) {
        if (claims.remove(claim.id, claim) && --claim.of.claims == 0) {
            String name = claim.of.key.name();
            List<ClientFed> ofName = locks.get(name);
            if (ofName != null && ofName.remove(claim.of) && ofName.isEmpty()) {
                locks.remove(name);
            }
        }
    }

    private void sweepInTime(long now) {
        if (!isTimeToSweep(now)) {
            return;
        }
        tombstones.sweep(now);
        for (LocalClaim claim : List.copyOf(claims.values())) {
            if (claim.of.isForgotten(claim, now)) {
                remove(claim);
            }
        }
    }
}
