package io.holdfast.redlock;

import java.util.Set;

/** What the contract promises, and Redlock does not. */
final class RedlockOpenPoints {

    /**
     * Attempts in an order in which the client sends none: the first one again after the second, and the second one after the release. At the
     * masters each attempt has ids of its own, so none of them arrives late there.
     */
    static final Set<String> LATE_ATTEMPTS =
            Set.of("laterAttemptOfAHolderTakesNothingAfterItsRelease", "overtakenAttemptOfAHolderSetsNoNewExpiry");

    private RedlockOpenPoints() {}
}
