package io.holdfast.proof.sim;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/** The thread of a process that delivers signals, one after the other. */
final class SignalScheduler implements Scheduler {

    private final Host host;

    SignalScheduler(Host host) {
        this.host = host;
    }

    @Override
    public Disposable schedule(Runnable task) {
        Disposable planned = Disposables.single();
        host.signal(() -> {
            if (!planned.isDisposed()) {
                task.run();
            }
        });
        return planned;
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        throw new RejectedExecutionException("signals are delivered at once");
    }

    @Override
    public Worker createWorker() {
        return new PlanningWorker(this);
    }

    @Override
    public void dispose() {
        // The world ends with the schedule.
    }
}
