package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * One process: its monotonic clock, which runs a little faster or slower than the true time, and its threads: the timer, the one of what
 * arrives from the network, and the one to which signals may be delivered. While it is paused nothing runs in it; then everything does, late:
 * timers in their order, arrivals in theirs, and these mixed, since they are different threads. While users' code blocks one of the threads,
 * the others go on. A process that was killed runs nothing any more.
 */
public final class Host implements Scheduler {

    private final World world;
    private final String name;
    private final double rate;
    private final long origin;
    private final Line timers = new Line();
    private final Line arrivals = new Line();
    private final Line signals = new Line();
    private final List<Runnable> afterArrival = new ArrayList<>();

    /** The thread that runs now; null when none does. */
    private @Nullable Line current;

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

    /** One thread: what it has not done yet, since the process was paused, or the thread was blocked. */
    private final class Line {

        private final Deque<Runnable> late = new ArrayDeque<>();
        private boolean isBlocked;

        void take(Runnable task) {
            if (isPaused || isBlocked || !late.isEmpty()) {
                late.add(task);
            } else {
                run(task);
            }
        }

        void run(Runnable task) {
            Line before = current;
            current = this;
            try {
                task.run();
            } finally {
                current = before;
            }
        }

        boolean canGoOn() {
            return !isBlocked && !late.isEmpty();
        }
    }

    /** Called after each arrival was handled, and each signal. */
    public void afterArrival(Runnable observer) {
        afterArrival.add(observer);
    }

    private void observe() {
        afterArrival.forEach(Runnable::run);
    }

    /** Users' code that runs now keeps its thread for so long. Each of the others goes on, unless it is blocked, too. */
    public void block(long nanos) {
        Line mine = current;
        if (mine == null || mine.isBlocked || isDead) {
            return;
        }
        world.trace("users' code of %s blocks the thread of its %s for %.3f ms", name, nameOf(mine), nanos / 1e6);
        mine.isBlocked = true;
        world.blockUntil(world.now() + nanos);
        if (isPaused) {
            world.blockWhile(() -> isPaused && !isDead);
        }
        mine.isBlocked = false;
        current = mine;
        if (mine.canGoOn()) {
            world.after(0, this::catchUp);
        }
    }

    private String nameOf(Line line) {
        return line == timers ? "timer" : line == arrivals ? "connections" : "signals";
    }

    /** Whether users' code keeps a thread of it. */
    public boolean isBlocked() {
        return timers.isBlocked || arrivals.isBlocked || signals.isBlocked;
    }

    /** The thread to which signals may be delivered. */
    public Scheduler signals() {
        return new SignalScheduler(this);
    }

    /** Something for that thread now. */
    void signal(Runnable task) {
        if (!isDead) {
            world.after(0, () -> {
                if (!isDead) {
                    signals.take(() -> {
                        task.run();
                        observe();
                    });
                }
            });
        }
    }

    public boolean isDead() {
        return isDead;
    }

    public boolean isPaused() {
        return isPaused;
    }

    /** It has not done yet what was due while it was paused, or is paused now. */
    public boolean isBehind() {
        return isPaused || isBlocked() || !timers.late.isEmpty() || !arrivals.late.isEmpty() || !signals.late.isEmpty();
    }

    public void kill() {
        world.trace("%s is killed", name);
        isDead = true;
        timers.late.clear();
        arrivals.late.clear();
        signals.late.clear();
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
        Line next = isPaused || isDead ? null : nextLate();
        if (next == null) {
            return;
        }
        next.run(next.late.poll());
        world.after(world.between(0, 50_000), this::catchUp);
    }

    private @Nullable Line nextLate() {
        if (signals.canGoOn()) {
            return signals;
        } else if (timers.canGoOn() && arrivals.canGoOn()) {
            return world.chance(0.5) ? timers : arrivals;
        }
        return timers.canGoOn() ? timers : arrivals.canGoOn() ? arrivals : null;
    }

    /** Something for it comes from the network now. */
    public void arrive(Runnable task) {
        if (!isDead) {
            arrivals.take(() -> {
                task.run();
                observe();
            });
        }
    }

    /** Something that the process does by itself now, as its timer would. */
    private void ring(Task task) {
        if (!isDead) {
            timers.take(task);
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
        return new PlanningWorker(this);
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

    @Override
    public String toString() {
        return name;
    }
}
