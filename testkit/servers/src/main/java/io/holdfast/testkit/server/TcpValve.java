package io.holdfast.testkit.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What a proxy does with the bytes of one direction, on all connections. */
final class TcpValve {

    private static final long NEVER = Long.MAX_VALUE;

    /** How long a thread that waits does not look whether its connection is still there. */
    private static final long LOOK_MILLIS = 20;

    // All guarded by this.
    private long delayNanos;
    private boolean isDropping;
    private long bytesToCut = NEVER;
    private long passed;

    /**
     * What is to be done with a portion.
     *
     * @param bytes so many of it are to be passed on
     * @param isCut whether the connection ends after them
     */
    record Verdict(int bytes, boolean isCut) {}

    static final Verdict DROPPED = new Verdict(-1, false);

    synchronized void pass() {
        delayNanos = 0;
        isDropping = false;
        bytesToCut = NEVER;
        notifyAll();
    }

    synchronized void drop() {
        isDropping = true;
        notifyAll();
    }

    synchronized void delay(Duration time) {
        if (time.toMillis() < 1) {
            throw new IllegalArgumentException("time must be at least a millisecond, was " + time);
        }
        isDropping = false;
        delayNanos = time.toNanos();
        notifyAll();
    }

    synchronized void cutAfter(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes must not be negative, was " + bytes);
        }
        bytesToCut = bytes;
    }

    synchronized long passed() {
        return passed;
    }

    /** Waits until the portion is due, or its connection has ended; decides about it then. */
    synchronized Verdict admit(int bytes, BooleanSupplier isOver) {
        long cameAt = System.nanoTime();
        while (!isDropping && System.nanoTime() - cameAt < delayNanos && !isOver.getAsBoolean()) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(delayNanos - (System.nanoTime() - cameAt)) + 1;
            try {
                wait(Math.max(1, Math.min(LOOK_MILLIS, leftMillis)));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return DROPPED;
            }
        }
        if (isDropping || isOver.getAsBoolean()) {
            return DROPPED;
        }
        boolean isCut = bytes > bytesToCut;
        int admitted = isCut ? (int) bytesToCut : bytes;
        passed += admitted;
        if (bytesToCut != NEVER) {
            bytesToCut = isCut ? NEVER : bytesToCut - admitted;
        }
        return new Verdict(admitted, isCut);
    }
}
