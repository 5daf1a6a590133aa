package io.holdfast.proof.judge;

/** What a mutex is, one call after the other: free or held, and no token comes after a higher one. For Lincheck, which makes it and calls it. */
public final class FencedLock {

    private long last;
    private boolean isHeld;

    /** Returns whether the lock may be granted with this token. */
    public boolean acquire(long token) {
        boolean isRight = !isHeld && token > last;
        if (isRight) {
            isHeld = true;
            last = token;
        }
        return isRight;
    }

    /** Returns whether the lock is held with this token, and frees it. */
    public boolean release(long token) {
        boolean isRight = isHeld && token == last;
        isHeld = isHeld && !isRight;
        return isRight;
    }
}
