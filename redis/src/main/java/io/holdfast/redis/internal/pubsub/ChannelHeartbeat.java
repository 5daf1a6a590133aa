package io.holdfast.redis.internal.pubsub;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out that the channel is dead although neither side closed it. It is idle by nature, so silence alone tells nothing: from time to
 * time an attempt that a waiter sends anyway asks for an echo, which the server publishes on the channel before it answers the attempt. So this
 * costs no command, and nothing at all when no claim waits.
 *
 * <p>The channel is suspected when the answer is there and the echo is not, some time later. A server or a machine that is slow is slow
 * with both, so it is waited for longer, the slower the answer was, and the more often the suspicion was wrong.
 */
final class ChannelHeartbeat {

    /** The shortest time between two questions. Messages of any other kind show as well that the channel lives. */
    static final long PERIOD_MILLIS = 1_000;

    /** From the answer to an attempt until its echo is missed. */
    static final long PATIENCE_MILLIS = 500;

    private static final long MOST_PATIENCE_MILLIS = 8_000;

    private final Timer timer;
    private final LongSupplier nanoTime;
    private final Consumer<Question> atSilence;

    /** When the last question was asked; written by the thread that asks. */
    private final AtomicLong askedAt;

    /** When anything was heard; written by the driver's threads. */
    private volatile long heardAt;

    /** Whether a waiter has left without its turn since anything was heard: perhaps the channel is dead. Written by both. */
    private volatile boolean isDoubted;

    /** Written by the driver's threads. */
    private volatile long patienceMillis = PATIENCE_MILLIS;

    /** Runs something after a while, once. */
    @FunctionalInterface
    interface Timer {
        void run(long millis, Runnable work);
    }

    /**
     * Nothing was asked yet.
     *
     * @param nanoTime as {@link System#nanoTime}
     * @param atSilence told of a question that was left without its echo
     */
    ChannelHeartbeat(Timer timer, LongSupplier nanoTime, Consumer<Question> atSilence) {
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.atSilence = atSilence;
        long now = nanoTime.getAsLong();
        askedAt = new AtomicLong(now - TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS));
        heardAt = askedAt.get();
    }

    /** One attempt that asks for an echo. */
    final class Question {

        private final long sentAt;

        Question(long sentAt) {
            this.sentAt = sentAt;
        }

        /** The attempt was answered, and so the echo was published. */
        void answered() {
            long tookMillis = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - sentAt);
            long patience = Math.min(MOST_PATIENCE_MILLIS, Math.max(patienceMillis, 2 * tookMillis));
            timer.run(patience, () -> {
                if (isUnheard()) {
                    atSilence.accept(this);
                }
            });
        }

        /** The attempt was granted the lock, and so no echo was published: the next attempt may ask. */
        void unasked() {
            boolean unused = askedAt.compareAndSet(sentAt, sentAt - TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS));
        }

        /** Whether nothing was heard since it was asked. */
        boolean isUnheard() {
            return heardAt - sentAt < 0;
        }
    }

    /**
     * For an attempt that is about to be sent; null when it need not ask.
     *
     * @param isFirst of its claim: most claims that wait are served before they attempt again. But a waiter that leaves early never does.
     */
    @Nullable
    Question ask(boolean isFirst) {
        if (isFirst && !isDoubted) {
            return null;
        }
        long now = nanoTime.getAsLong();
        long last = askedAt.get();
        long period = TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);
        boolean isDue = now - last >= period && now - heardAt >= period;
        return isDue && askedAt.compareAndSet(last, now) ? new Question(now) : null;
    }

    void heard() {
        heardAt = nanoTime.getAsLong();
        isDoubted = false;
    }

    /** A waiter has left without its turn. */
    void doubt() {
        isDoubted = true;
    }

    /** The echo came after all: it is not the channel that is slow. */
    void wasWrong() {
        patienceMillis = Math.min(MOST_PATIENCE_MILLIS, 2 * patienceMillis);
    }

    /** Another connection has taken the place of the silent one. */
    void startAnew() {
        patienceMillis = PATIENCE_MILLIS;
        heard();
    }
}
