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
    private final Consumer<EchoRequest> atSilence;

    /** When the last echo was requested; written by the thread that requests it. */
    private final AtomicLong askedAt;

    /** When the last message came; written by the driver's threads. */
    private volatile long heardAt;

    /**
     * Whether a waiter has left without its turn since the last message: the channel may be dead. Written by the driver's
     * threads, and by the thread that leaves.
     */
    private volatile boolean isDoubted;

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
     * @param atSilence receives each request that was left without its echo
     */
    ChannelHeartbeat(Timer timer, LongSupplier nanoTime, Consumer<EchoRequest> atSilence) {
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.atSilence = atSilence;
        long now = nanoTime.getAsLong();
        askedAt = new AtomicLong(now - TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS));
        heardAt = askedAt.get();
    }

    /** One attempt that requests an echo. */
    final class EchoRequest {

        private final long sentAt;

        EchoRequest(long sentAt) {
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

        /** The attempt was granted, so the server published no echo: the next attempt may request one. */
        void notPublished() {
            boolean unused = askedAt.compareAndSet(sentAt, sentAt - TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS));
        }

        /** Whether no message has come since the request. */
        boolean isUnheard() {
            return heardAt - sentAt < 0;
        }
    }

    /**
     * Returns the request of an attempt that is about to be sent; null if it need not request an echo.
     *
     * @param isFirst whether it is the first attempt of its claim. Most waiters are served before their next attempt; but
     *     a waiter that leaves early sends no other one
     */
    @Nullable
    EchoRequest requestEcho(boolean isFirst) {
        if (isFirst && !isDoubted) {
            return null;
        }
        long now = nanoTime.getAsLong();
        long last = askedAt.get();
        long period = TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);
        boolean isDue = now - last >= period && now - heardAt >= period;
        return isDue && askedAt.compareAndSet(last, now) ? new EchoRequest(now) : null;
    }

    void heard() {
        heardAt = nanoTime.getAsLong();
        isDoubted = false;
    }

    /** A waiter has left without its turn. */
    void doubt() {
        isDoubted = true;
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
