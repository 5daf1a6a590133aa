package io.holdfast.proof.sim;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/** A worker of a scheduler with one real or simulated thread. */
final class PlanningWorker implements Scheduler.Worker {

    private final Scheduler scheduler;
    private final Disposable.Composite all = Disposables.composite();

    PlanningWorker(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    @Override
    public Disposable schedule(Runnable task) {
        return kept(scheduler.schedule(task));
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return kept(scheduler.schedule(task, delay, unit));
    }

    private Disposable kept(Disposable planned) {
        boolean unused = all.add(planned);
        return planned;
    }

    @Override
    public void dispose() {
        all.dispose();
    }

    @Override
    public boolean isDisposed() {
        return all.isDisposed();
    }
}
