package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * One process: its monotonic clock, which runs a little faster or slower than the true time, its timer, and what arrives for it from the
 * network. While it is paused nothing runs in it; then everything does, late: timers in their order, arrivals in theirs, and the two mixed,
 * since they are different threads. A process that was killed runs nothing any more.
 */
public final class Host implements Scheduler {

    private final World world;
    private final String name;
    private final double rate;
    private final long origin;
    private final Deque<Runnable> lateTimers = new ArrayDeque<>();
    private final Deque<Runnable> lateArrivals = new ArrayDeque<>();
    private Runnable afterArrival = () -> {};
    private boolean isPaused;
    private boolean isDead;
    private int pauses;

    /**
     * A running process.
     *
     * @param rate how fast its clock runs, 1 for the true time
     */
    public Host(World world, String name, double rate) {
        this.world = world;
        this.name = name;
        this.rate = rate;
        origin = world.between(1, 1L << 40);
    }

    public World world() {
        return world;
    }

    public String name() {
        return name;
    }

    /** So much passes in truth while its clock counts that. */
    public long trueNanos(long localNanos) {
        return (long) (localNanos / rate);
    }

    /** Called after each arrival was handled. */
    public void afterArrival(Runnable observer) {
        afterArrival = observer;
    }

    public boolean isDead() {
        return isDead;
    }

    public boolean isPaused() {
        return isPaused;
    }

    /** It has not done yet what was due while it was paused, or is paused now. */
    public boolean isBehind() {
        return isPaused || !lateTimers.isEmpty() || !lateArrivals.isEmpty();
    }

    public void kill() {
        world.trace("%s is killed", name);
        isDead = true;
        lateTimers.clear();
        lateArrivals.clear();
    }

    /** It runs nothing for a while. */
    public void pause(long nanos) {
        if (isDead) {
            return;
        }
        world.trace("%s is paused for %.3f ms", name, nanos / 1e6);
        isPaused = true;
        int mine = ++pauses;
        world.after(nanos, () -> {
            if (mine == pauses) {
                resume();
            }
        });
    }

    public void resume() {
        if (!isPaused) {
            return;
        }
        world.trace("%s goes on", name);
        isPaused = false;
        catchUp();
    }

    private void catchUp() {
        if (isPaused || isDead || (lateTimers.isEmpty() && lateArrivals.isEmpty())) {
            return;
        }
        boolean isTimer = !lateTimers.isEmpty() && (lateArrivals.isEmpty() || world.chance(0.5));
        if (isTimer) {
            lateTimers.poll().run();
        } else {
            lateArrivals.poll().run();
            afterArrival.run();
        }
        world.after(world.between(0, 50_000), this::catchUp);
    }

    /** Something for it comes from the network now. */
    public void arrive(Runnable task) {
        if (isDead) {
            return;
        }
        if (isPaused || !lateArrivals.isEmpty()) {
            lateArrivals.add(task);
        } else {
            task.run();
            afterArrival.run();
        }
    }

    /** Something that the process does by itself now, as its timer would. */
    private void ring(Task task) {
        if (isDead) {
            return;
        }
        if (isPaused || !lateTimers.isEmpty()) {
            lateTimers.add(task);
        } else {
            task.run();
        }
    }

    @Override
    public long now(TimeUnit unit) {
        return unit.convert(nanoTime(), TimeUnit.NANOSECONDS);
    }

    public long nanoTime() {
        return origin + (long) (world.now() * rate);
    }

    @Override
    public Disposable schedule(Runnable task) {
        return schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        Task planned = new Task(task);
        // One more: the clock of the process is rounded down, and a timer never comes too early.
        long nanos = delay <= 0 ? 0 : trueNanos(unit.toNanos(delay)) + 1;
        world.after(nanos, () -> ring(planned));
        return planned;
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
        throw new RejectedExecutionException("nothing here is periodic");
    }

    @Override
    public Worker createWorker() {
        return new Hand();
    }

    @Override
    public void dispose() {
        // The world ends with the schedule.
    }

    private static final class Task implements Runnable, Disposable {

        private final Runnable task;
        private boolean isDisposed;

        Task(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (!isDisposed) {
                isDisposed = true;
                task.run();
            }
        }

        @Override
        public void dispose() {
            isDisposed = true;
        }

        @Override
        public boolean isDisposed() {
            return isDisposed;
        }
    }

    private final class Hand implements Worker {

        private final Disposable.Composite all = Disposables.composite();

        @Override
        public Disposable schedule(Runnable task) {
            return schedule(task, 0, TimeUnit.NANOSECONDS);
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            Disposable planned = Host.this.schedule(task, delay, unit);
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

    @Override
    public String toString() {
        return name;
    }
}
