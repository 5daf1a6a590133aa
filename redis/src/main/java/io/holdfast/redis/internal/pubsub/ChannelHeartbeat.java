package io.holdfast.redis.internal.pubsub;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Detects a dead channel that neither side closed. The channel is usually idle, so silence proves nothing. From time to
 * time an attempt that a waiter sends anyway requests an echo, which the server publishes on the channel before it
 * answers the attempt. So this costs no command, and nothing at all if no claim waits.
 *
 * <p>The channel is suspected if the answer has come and the echo has not, some time later. A slow server or machine
 * delays both. So the wait for the echo is longer, the slower the answer was, and the more often the suspicion was
 * wrong.
 */
final class ChannelHeartbeat {

    /**
     * The shortest time between two requests for an echo. Messages of any other kind also show that the channel works.
     */
    static final long PERIOD_MILLIS = 1_000;

    /** The time from the answer to an attempt until its echo counts as missing. */
    static final long PATIENCE_MILLIS = 500;

    private static final long MOST_PATIENCE_MILLIS = 8_000;

    private final Timer timer;
    private final LongSupplier nanoTime;
    private final Consumer<Question> atSilence;

    /** When the last echo was requested; written by the thread that requests it. */
    private final AtomicLong askedAt;

    /** When the last message came; written by the driver's threads. */
    private volatile long heardAt;

    /** Written by the driver's threads. */
    private volatile long patienceMillis = PATIENCE_MILLIS;

    /** Runs a task after a pause, once. */
    @FunctionalInterface
    interface Timer {
        void run(long millis, Runnable work);
    }

    /**
     * Begins without a request.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param atSilence receives each question that was left without its echo
     */
    ChannelHeartbeat(Timer timer, LongSupplier nanoTime, Consumer<Question> atSilence) {
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.atSilence = atSilence;
        long now = nanoTime.getAsLong();
        askedAt = new AtomicLong(now - TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS));
        heardAt = askedAt.get();
    }

    /** One attempt that requests an echo. */
    final class Question {

        private final long sentAt;

        Question(long sentAt) {
            this.sentAt = sentAt;
        }

        /** The attempt was answered, so the server has published the echo. */
        void answered() {
            long tookMillis = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - sentAt);
            long patience = Math.min(MOST_PATIENCE_MILLIS, Math.max(patienceMillis, 2 * tookMillis));
            timer.run(patience, () -> {
                if (isUnheard()) {
                    atSilence.accept(this);
                }
            });
        }

        /** Whether no message has come since the request. */
        boolean isUnheard() {
            return heardAt - sentAt < 0;
        }
    }

    /** For an attempt that is about to be sent; null when it need not ask. */
    @Nullable
    Question ask() {
        long now = nanoTime.getAsLong();
        long last = askedAt.get();
        long period = TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);
        boolean isDue = now - last >= period && now - heardAt >= period;
        return isDue && askedAt.compareAndSet(last, now) ? new Question(now) : null;
    }

    void heard() {
        heardAt = nanoTime.getAsLong();
    }

    /** The echo came after all: the channel was not the slow part. */
    void wasWrong() {
        patienceMillis = Math.min(MOST_PATIENCE_MILLIS, 2 * patienceMillis);
    }

    /** Another connection has replaced the silent one. */
    void startAnew() {
        patienceMillis = PATIENCE_MILLIS;
        heard();
    }
}
