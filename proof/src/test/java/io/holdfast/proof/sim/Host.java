package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * One process. Its monotonic clock runs a little faster or slower than the true time. It has three threads: for timers, for messages from the network,
 * and perhaps for signals. While the process is paused, nothing runs in it. Then all late tasks run: timers in their order, messages in theirs, and both
 * mixed, since they are different threads. While users' code blocks one thread, the others continue. A killed process runs nothing any more.
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

    /** The current thread; null between steps. */
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

    /** Converts a duration of its clock into true time. */
    public long trueNanos(long localNanos) {
        return (long) (localNanos / rate);
    }

    /** One thread with its late tasks, since the process was paused, or the thread was blocked. */
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

    /** Registers a callback that runs after each message and each signal. */
    public void afterArrival(Runnable observer) {
        afterArrival.add(observer);
    }

    private void observe() {
        afterArrival.forEach(Runnable::run);
    }

    /** The current users' code blocks its thread for the given time. Each other thread continues, unless it is blocked, too. */
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

    /** Returns whether users' code blocks one of its threads. */
    public boolean isBlocked() {
        return timers.isBlocked || arrivals.isBlocked || signals.isBlocked;
    }

    /** The thread to which signals may be delivered. */
    public Scheduler signals() {
        return new SignalScheduler(this);
    }

    /** Runs a task on that thread, now or when it is free. */
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

    /** Returns whether it is paused, or has late tasks from a pause. */
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

    /** Pauses the process. */
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

    /** Delivers a message from the network. */
    public void arrive(Runnable task) {
        if (!isDead) {
            arrivals.take(() -> {
                task.run();
                observe();
            });
        }
    }

    /** Runs a task of the process itself, as its timer would. */
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
        // One nanosecond more: the clock of the process rounds down, and a timer never rings too early.
        long nanos = delay <= 0 ? 0 : trueNanos(unit.toNanos(delay)) + 1;
        world.after(nanos, () -> ring(planned));
        return planned;
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
        Disposable.Swap next = Disposables.swap();
        next.update(schedule(
                () -> {
                    next.update(schedulePeriodically(task, period, period, unit));
                    task.run();
                },
                initialDelay,
                unit));
        return next;
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
