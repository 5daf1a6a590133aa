package io.holdfast.testkit.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Decides about the bytes of one direction, on all connections. */
final class TcpValve {

    private static final long NEVER = Long.MAX_VALUE;

    /** The longest time for which a waiting thread does not check whether its connection is still open. */
    private static final long CHECK_MILLIS = 20;

    // The fields below are guarded by this.
    private long delayNanos;
    private boolean isDropping;
    private long bytesToCut = NEVER;
    private long passed;

    /**
     * The decision about a portion.
     *
     * @param bytes how many of its bytes to pass on
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

    /** Waits until the portion is due, or its connection has ended; then decides about it. */
    synchronized Verdict admit(int bytes, BooleanSupplier isOver) {
        long cameAt = System.nanoTime();
        while (!isDropping && System.nanoTime() - cameAt < delayNanos && !isOver.getAsBoolean()) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(delayNanos - (System.nanoTime() - cameAt)) + 1;
            try {
                wait(Math.max(1, Math.min(CHECK_MILLIS, leftMillis)));
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
