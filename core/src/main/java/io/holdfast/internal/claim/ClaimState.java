package io.holdfast.internal.claim;

/** The state of a claim: it {@linkplain AcquireState acquires} the lock, or {@linkplain LeaseState holds} it. */
sealed interface ClaimState permits AcquireState, LeaseState {

    /** Returns whether the claim has to be woken at {@link #wakeAtNanos}. */
    boolean wantsWake();

    long wakeAtNanos();
}
