package io.holdfast.redlock.internal.claim;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The id and the number of the last attempt under which each master knows one claim.
 *
 * <p>The id at a master is the claim's own id until the claim is released there, then a new one: the client never uses
 * a released id again at that master. So a late release ends no later grant, and the tombstone that it leaves for an
 * attempt still under way does not stop later attempts. Not thread-safe: the state of the claim guards it.
 */
final class ClaimAtMasters {

    private final String id;

    /** How many ids the claim had at each master before the present one. */
    private final int[] generations;

    /** The number of the last attempt under the present id. */
    private final int[] attempts;

    /** Attempts under the present id that the client has seen no answer to (yet). */
    private final int[] unanswered;

    /**
     * The last claim that was made: the masters mostly know the claim by the same id and number, and then get the same
     * object.
     */
    private @Nullable LockClaim made;

    ClaimAtMasters(String id, int masters, int generation) {
        this.id = id;
        generations = new int[masters];
        Arrays.fill(generations, generation);
        attempts = new int[masters];
        unanswered = new int[masters];
    }

    /** Returns the claim as this master knows it. */
    LockClaim at(int master, LockClaim claim) {
        return known(master, claim, Math.max(1, attempts[master]), claim.waiting(), claim.tokenFloor());
    }

    boolean hasNoAttemptAt(int master) {
        return attempts[master] == 0 && generations[master] == 0;
    }

    /** Returns the claim with the number of the next attempt at this master, which is about to be sent. */
    LockClaim next(int master, LockClaim claim, Waiting waiting, long floor) {
        attempts[master]++;
        unanswered[master]++;
        return known(master, claim, attempts[master], waiting, floor);
    }

    /** The client has seen the answer to an attempt. */
    void answered(int master, LockClaim attempt) {
        if (isPresent(master, attempt)) {
            unanswered[master]--;
        }
    }

    /** Whether that attempt has the id that the claim has at this master now. */
    boolean isPresent(int master, LockClaim attempt) {
        return attempt.id().equals(idAt(master));
    }

    /** Returns the claim to release at this master, under the id of that attempt. Later attempts have another id. */
    LockClaim retire(int master, LockClaim attempt) {
        LockClaim last = toRelease(master, attempt, false);
        generations[master]++;
        attempts[master] = 0;
        unanswered[master] = 0;
        return last;
    }

    /**
     * Returns the claim to release at this master.
     *
     * @param isLastAwaited whether the round still awaits the answer to the last attempt there. Then the release
     *     follows that attempt, or makes the master remember it by a number that the master has not seen yet
     */
    LockClaim toRelease(int master, LockClaim claim, boolean isLastAwaited) {
        int sent = attempts[master] == 0 ? claim.attempt() : attempts[master];
        int givenUp = unanswered[master] - (isLastAwaited ? 1 : 0);
        // A number that the master has not seen makes it remember the release, for the attempt that may still arrive
        // there.
        return known(master, claim, givenUp > 0 ? sent + 1 : sent, claim.waiting(), claim.tokenFloor());
    }

    private LockClaim known(int master, LockClaim claim, int attempt, Waiting waiting, long floor) {
        String there = idAt(master);
        LockClaim last = made;
        if (last == null
                || last.attempt() != attempt
                || last.tokenFloor() != floor
                || last.waiting() != waiting
                || !last.id().equals(there)
                || !last.lease().equals(claim.lease())
                || !last.key().equals(claim.key())) {
            last = new LockClaim(claim.key(), there, claim.lease(), waiting, attempt, floor, claim.permits(), "");
            made = last;
        }
        return last;
    }

    private String idAt(int master) {
        return IdAtMaster.of(id, generations[master]);
    }

    @Override
    public String toString() {
        return "%s, generations %s".formatted(id, Arrays.toString(generations));
    }
}
