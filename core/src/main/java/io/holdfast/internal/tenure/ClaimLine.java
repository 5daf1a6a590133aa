package io.holdfast.internal.tenure;

import io.holdfast.internal.tenure.LocalClaim.Standing;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one process that wait for one lock, in order of arrival. A linked list: a claim in the middle may leave
 * while thousands wait.
 */
final class ClaimLine {

    private @Nullable LocalClaim first;
    private @Nullable LocalClaim last;
    private int size;

    @Nullable
    LocalClaim first() {
        return first;
    }

    @Nullable
    LocalClaim last() {
        return last;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void add(LocalClaim claim) {
        claim.tenure = null;
        claim.standing = Standing.WAITING;
        claim.before = last;
        claim.behind = null;
        if (last == null) {
            first = claim;
        } else {
            last.behind = claim;
        }
        last = claim;
        size++;
    }

    void remove(LocalClaim claim) {
        if (claim.before == null) {
            first = claim.behind;
        } else {
            claim.before.behind = claim.behind;
        }
        if (claim.behind == null) {
            last = claim.before;
        } else {
            claim.behind.before = claim.before;
        }
        claim.before = null;
        claim.behind = null;
        size--;
    }

    /** Returns the first claim that calls now, or that can get a signal and has sent an attempt not long ago. */
    @Nullable
    LocalClaim reachable(@Nullable LocalClaim caller, long staleNanos, long now) {
        LocalClaim claim = first;
        while (claim != null
                && claim != caller
                && (claim.watch == null || now - claim.attemptedAtNanos >= staleNanos)) {
            claim = claim.behind;
        }
        return claim;
    }
}
