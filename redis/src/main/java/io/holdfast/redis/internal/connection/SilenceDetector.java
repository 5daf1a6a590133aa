package io.holdfast.redis.internal.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * Detects a connection whose peer has vanished: a command was sent, and the server answers nothing for a while. An idle
 * connection is not silent.
 */
final class SilenceDetector {

    /** A shorter time does not count: after a pause of this process, the answers are there and only have to be read. */
    static final long SHORTEST_MILLIS = 100;

    private final long patienceNanos;
    private final BiConsumer<Duration, Runnable> later;
    private final LongSupplier nanoTime;

    /** Written by the driver's threads. */
    private volatile long answeredAt;

    /** Written by the threads that send: when the first command was sent after the last answer. */
    private volatile long askedAt;

    /** Set while a check for silence is planned. */
    private final AtomicBoolean isDoubted = new AtomicBoolean();

    /**
     * Nothing was sent yet.
     *
     * @param patience how long a server may be silent
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

    /** The server has answered. */
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
     * Checks after a while whether the server has answered, if a command is unanswered. It does not check at once:
     * after a pause of this process, the answers have arrived and only have to be read.
     *
     * @param atSilence run if the server still has not answered
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
