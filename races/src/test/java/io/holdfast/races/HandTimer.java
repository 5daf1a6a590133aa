package io.holdfast.races;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * A clock that a race moves by hand. A delayed task runs on the thread that moves the clock. A task without delay runs at once, on the thread
 * that schedules it, so that the race is as narrow as in production.
 */
public final class HandTimer implements Scheduler {

    private static final class Task implements Disposable {

        final Runnable work;
        final long dueNanos;
        volatile boolean disposed;

        Task(Runnable work, long dueNanos) {
            this.work = work;
            this.dueNanos = dueNanos;
        }

        @Override
        public void dispose() {
            disposed = true;
        }

        @Override
        public boolean isDisposed() {
            return disposed;
        }
    }

    /** Guarded by its own monitor. */
    private final List<Task> tasks = new ArrayList<>(4);

    /** Written by the one thread that moves the clock. */
    private volatile long nowNanos;

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(nowNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task) {
        task.run();
        return Disposables.disposed();
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        Task scheduled = new Task(task, nowNanos + unit.toNanos(delay));
        synchronized (tasks) {
            tasks.add(scheduled);
        }
        return scheduled;
    }

    @Override
    public Worker createWorker() {
        throw new UnsupportedOperationException("the library uses no worker of its timer");
    }

    /** Moves the clock, but does not run the due tasks yet: a timer may always be late. */
    public void jumpTo(long nanos) {
        nowNanos = nanos;
    }

    /** Moves the clock and runs the due tasks, earliest first. */
    public void moveTo(long nanos) {
        nowNanos = nanos;
        for (Task due = takeDue(); due != null; due = takeDue()) {
            if (!due.disposed) {
                due.work.run();
            }
        }
    }

    /** Returns the number of tasks that are not due yet. */
    public int size() {
        synchronized (tasks) {
            tasks.removeIf(Task::isDisposed);
            return tasks.size();
        }
    }

    private @Nullable Task takeDue() {
        synchronized (tasks) {
            Task first = tasks.stream()
                    .filter(task -> task.dueNanos <= nowNanos)
                    .min(Comparator.comparingLong(task -> task.dueNanos))
                    .orElse(null);
            tasks.remove(first);
            return first;
        }
    }
}
