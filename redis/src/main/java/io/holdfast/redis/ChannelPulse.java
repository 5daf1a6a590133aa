package io.holdfast.redis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Finds out that the channel is dead although nobody closed it. It is idle by nature, so silence alone tells nothing: while
 * somebody waits, it is asked for a sign of life at a fixed pace, one small command whatever the number of waiters.
 */
final class ChannelPulse {

    /**
     * Twice this passes at most until a dead connection is found out. With a new one made after that, a waiter still has the
     * lock within a second of the release.
     */
    static final long PERIOD_MILLIS = 300;

    /** So much later than it was told to look may a waiter look. */
    private static final long SLACK_MILLIS = 1_000;

    private final Later later;
    private final LongSupplier nanoTime;
    private final Runnable ask;
    private final Runnable atSilence;
    private final AtomicBoolean isBeating = new AtomicBoolean();

    /** Written by those who wait: the pulse beats until then, in nanoseconds. */
    private final AtomicLong wantedUntil;

    /** Written by the beat: when an answer was asked for. */
    private volatile long askedAt;

    /** Written by the driver's threads: when anything was heard. */
    private volatile long heardAt;

    /** Runs something after a while, once. */
    @FunctionalInterface
    interface Later {
        void run(long millis, Runnable work);
    }

    /**
     * A pulse that does not beat yet.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param ask asks for a sign of life, or opens a channel that is not there
     * @param atSilence run at each beat at which there was no answer to the one before
     */
    ChannelPulse(Later later, LongSupplier nanoTime, Runnable ask, Runnable atSilence) {
        this.later = later;
        this.nanoTime = nanoTime;
        askedAt = nanoTime.getAsLong();
        heardAt = askedAt;
        wantedUntil = new AtomicLong(askedAt);
        this.ask = ask;
        this.atSilence = atSilence;
    }

    /** Beats for at least so long, since somebody waits. */
    void beatFor(long millis) {
        long until = nanoTime.getAsLong() + TimeUnit.MILLISECONDS.toNanos(millis + SLACK_MILLIS);
        wantedUntil.accumulateAndGet(until, (known, wanted) -> wanted - known > 0 ? wanted : known);
        if (isBeating.compareAndSet(false, true)) {
            heard();
            next();
        }
    }

    void heard() {
        heardAt = nanoTime.getAsLong();
    }

    /** Whether what was asked for last was not answered yet. */
    boolean isSilent() {
        return heardAt - askedAt < 0;
    }

    private boolean isOver() {
        return nanoTime.getAsLong() - wantedUntil.get() > 0;
    }

    private void next() {
        later.run(PERIOD_MILLIS, this::beat);
    }

    private void beat() {
        if (isOver()) {
            isBeating.set(false);
            // Somebody may have come in between, and have seen it beat.
            if (isOver() || !isBeating.compareAndSet(false, true)) {
                return;
            }
        }
        if (isSilent()) {
            atSilence.run();
        } else {
            askedAt = nanoTime.getAsLong();
        }
        ask.run();
        next();
    }
}
