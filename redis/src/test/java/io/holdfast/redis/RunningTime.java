package io.holdfast.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The time for which this JVM has run. A busy machine may stop it for seconds, all threads at once. Then each timer of a
 * client is late, and the clock says nothing about the client. So a thread looks at the clock all the time, and what it
 * misses does not count.
 */
final class RunningTime implements AutoCloseable {

    private static final Duration PERIOD = Duration.ofMillis(10);

    /** A thread of a busy machine may be late by this. */
    private static final long USUAL_NANOS = Duration.ofMillis(60).toNanos();

    private final long begun = System.nanoTime();
    private final AtomicLong seenAt = new AtomicLong(begun);
    private final AtomicLong stalled = new AtomicLong();
    private final Thread watch = new Thread(this::look, "running-time");

    private RunningTime() {}

    static RunningTime start() {
        RunningTime time = new RunningTime();
        time.watch.setDaemon(true);
        time.watch.start();
        return time;
    }

    private void look() {
        while (!Thread.currentThread().isInterrupted()) {
            seen();
            try {
                Thread.sleep(PERIOD.toMillis());
            } catch (InterruptedException over) {
                return;
            }
        }
    }

    private void seen() {
        long now = System.nanoTime();
        long missed = now - seenAt.getAndSet(now);
        if (missed > USUAL_NANOS) {
            stalled.addAndGet(missed);
        }
    }

    /** Returns the time since the start, without that for which the JVM was stopped. */
    Duration soFar() {
        seen();
        return Duration.ofNanos(System.nanoTime() - begun - stalled.get());
    }

    long stalledMillis() {
        return stalled.get() / 1_000_000;
    }

    @Override
    public void close() {
        watch.interrupt();
    }
}
