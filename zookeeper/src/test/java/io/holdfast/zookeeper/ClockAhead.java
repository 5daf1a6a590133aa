package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** The threads of another scheduler, with a clock that a test can put forward, as if nothing had run meanwhile. */
final class ClockAhead implements Scheduler {

    private final Scheduler threads;
    private final AtomicLong aheadNanos = new AtomicLong();

    ClockAhead(Scheduler threads) {
        this.threads = threads;
    }

    void putForward(Duration time) {
        long unused = aheadNanos.addAndGet(time.toNanos());
    }

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(threads.now(TimeUnit.NANOSECONDS) + aheadNanos.get(), TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return threads.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return threads.schedule(task, delay, unit);
    }

    @Override
    public Worker createWorker() {
        return threads.createWorker();
    }
}
