package io.holdfast.semantics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * A clock that the test moves, and whose tasks run after it was moved. All tasks that are due by then run in one turn,
 * as on a busy machine.
 */
final class LateTimer implements Scheduler {

    private record Task(Runnable work, long dueNanos, Disposable.Swap end) {}

    private final List<Task> tasks = new ArrayList<>();
    private long nowNanos;

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(nowNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable work) {
        work.run();
        return Disposables.disposed();
    }

    @Override
    public Disposable schedule(Runnable work, long delay, TimeUnit unit) {
        Task task = new Task(work, nowNanos + unit.toNanos(delay), Disposables.swap());
        tasks.add(task);
        return task.end();
    }

    @Override
    public Worker createWorker() {
        throw new UnsupportedOperationException("this test uses no worker");
    }

    void advance(java.time.Duration time) {
        nowNanos += time.toNanos();
        runDue();
    }

    private void runDue() {
        for (List<Task> due = due(); !due.isEmpty(); due = due()) {
            Task first = due.get(0);
            tasks.remove(first);
            if (!first.end().isDisposed()) {
                first.work().run();
            }
        }
    }

    private List<Task> due() {
        return tasks.stream()
                .filter(task -> task.dueNanos() <= nowNanos)
                .sorted(Comparator.comparingLong(Task::dueNanos))
                .toList();
    }
}
