package io.holdfast.redis.internal.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * Tells a connection whose peer went away without a word from one that has nothing to say: something was asked, and nothing is answered for
 * a while.
 */
final class SilenceDetector {

    /** Less is no silence. */
    static final long SHORTEST_MILLIS = 100;

    private final long patienceNanos;
    private final BiConsumer<Duration, Runnable> later;
    private final LongSupplier nanoTime;

    /** Written by the driver's threads. */
    private volatile long answeredAt;

    /** Written by those who send: when the first command was sent after the last answer. */
    private volatile long askedAt;

    /** Set while it is to be seen whether the connection is silent. */
    private final AtomicBoolean isDoubted = new AtomicBoolean();

    /**
     * Nothing was asked yet.
     *
     * @param patience so long a server may say nothing
     * @param later runs a task after a pause
     */
    SilenceDetector(Duration patience, BiConsumer<Duration, Runnable> later, LongSupplier nanoTime) {
        patienceNanos = patience.toNanos();
        this.later = later;
        this.nanoTime = nanoTime;
        answeredAt = nanoTime.getAsLong();
        askedAt = answeredAt;
    }

    Duration patience() {
        return Duration.ofNanos(patienceNanos);
    }

    /** A command is sent. */
    void asked() {
        if (isAnswered()) {
            askedAt = nanoTime.getAsLong();
        }
    }

    /** The server has said something. */
    void answered() {
        answeredAt = nanoTime.getAsLong();
    }

    boolean isSilentSince(long time) {
        return answeredAt - time < 0;
    }

    private boolean isAnswered() {
        return answeredAt - askedAt >= 0;
    }

    /**
     * Looks again after a while, if something was asked and nothing is answered. Not at once: after a pause of this process, the answers are
     * there and only have to be read.
     *
     * @param atSilence run when still nothing is answered
     */
    void doubt(Runnable atSilence) {
        if (isAnswered() || !isDoubted.compareAndSet(false, true)) {
            return;
        }
        long rest = patienceNanos - (nanoTime.getAsLong() - askedAt);
        later.accept(Duration.ofNanos(Math.max(rest, TimeUnit.MILLISECONDS.toNanos(SHORTEST_MILLIS))), () -> {
            isDoubted.set(false);
            long asked = askedAt;
            if (answeredAt - asked < 0 && nanoTime.getAsLong() - asked >= patienceNanos) {
                atSilence.run();
            }
        });
    }
}
