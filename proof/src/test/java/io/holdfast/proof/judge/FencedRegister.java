package io.holdfast.proof.judge;

/** What a register with a fence is: it refuses a write with a token below the highest that it has seen. For Lincheck, which makes it and calls it. */
public final class FencedRegister {

    private long highest;

    /** Returns whether it takes the write. */
    public boolean write(long token) {
        if (token < highest) {
            return false;
        }
        highest = token;
        return true;
    }
}
