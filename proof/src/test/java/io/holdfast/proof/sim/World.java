package io.holdfast.proof.sim;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * Virtual time for everything that happens in one schedule, one step after the other: a queue of steps and a seed. The same seed makes the
 * same steps in the same order.
 */
public final class World {

    /** In true time. Far more than all steps of a schedule take. */
    private static final int MOST_SECONDS = 300;

    /** What goes on while a step is blocked. */
    private static final ExecutorService OTHERS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "others");
        thread.setDaemon(true);
        return thread;
    });

    private final Steps steps = new Steps();
    private final SplittableRandom random;
    private final long seed;
    private final boolean isTraced;
    private final List<String> trace = new ArrayList<>();
    private final List<String> defects = new ArrayList<>();
    private long now;
    private long done;
    private long fingerprint;

    /**
     * At time 0.
     *
     * @param isTraced whether to keep what {@link #trace} is told
     */
    public World(long seed, boolean isTraced) {
        random = new SplittableRandom(seed);
        this.seed = seed;
        this.isTraced = isTraced;
    }

    /** In nanoseconds; the true time, which no process and no server knows. */
    public long now() {
        return now;
    }

    public void at(long time, Runnable task) {
        steps.add(Math.max(time, now), task);
    }

    public void after(long nanos, Runnable task) {
        at(now + nanos, task);
    }

    /** Runs all that is planned up to that time. */
    public void runUntil(long time) {
        while (!steps.isEmpty() && steps.nextTime() <= time) {
            now = steps.nextTime();
            Runnable next = steps.poll();
            done++;
            fingerprint = fingerprint * 31 + now;
            try {
                next.run();
            } catch (RuntimeException | AssertionError thrown) {
                defect("a step threw " + thrown, thrown);
            }
        }
        now = Math.max(now, time);
    }

    /**
     * Within a step that is blocked: all else goes on until that time, on another thread, so that nothing that belongs to the blocked
     * thread is found there. When this returns, the step goes on.
     */
    public void blockUntil(long time) {
        block(() -> runUntil(time));
    }

    /** As {@link #blockUntil}, as long as something is so, and anything is planned. */
    public void blockWhile(BooleanSupplier isSo) {
        block(() -> {
            while (isSo.getAsBoolean() && !steps.isEmpty()) {
                runUntil(steps.nextTime());
            }
        });
    }

    private void block(Runnable others) {
        try {
            OTHERS.submit(others).get(MOST_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException stuck) {
            throw new AssertionError("what is blocked in users' code keeps others from going on", stuck);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new AssertionError("the schedule was interrupted", stopped);
        }
    }

    /** How many steps were made. */
    public long steps() {
        return done;
    }

    /** The same for two runs that made the same steps at the same times. */
    public long fingerprint() {
        return fingerprint;
    }

    /** Something that must not happen, and that no history shows. */
    public void defect(String what, Throwable thrown) {
        StringBuilder text = new StringBuilder(what);
        for (StackTraceElement frame : thrown.getStackTrace()) {
            text.append("\n    at ").append(frame);
        }
        defects.add(text.toString());
        trace("DEFECT %s", what);
    }

    public List<String> defects() {
        return defects;
    }

    public boolean isTraced() {
        return isTraced;
    }

    /** As {@link String#format}, and only then. */
    @FormatMethod
    public void trace(@FormatString String what, Object... of) {
        if (isTraced) {
            trace.add("%12.3f ms  %s".formatted(now / 1e6, what.formatted(of)));
        }
    }

    public List<String> trace() {
        return trace;
    }

    /** Chances of their own for a new kind of deed: what was drawn without it stays the same for each seed. */
    public SplittableRandom chancesOf(String deed, int number) {
        return new SplittableRandom(seed * 31 + (deed + number).hashCode());
    }

    public boolean chance(double of) {
        return random.nextDouble() < of;
    }

    public double random() {
        return random.nextDouble();
    }

    public long bits() {
        return random.nextLong();
    }

    /** From 0 to below. */
    public int below(int bound) {
        return random.nextInt(bound);
    }

    public long between(long least, long most) {
        return least >= most ? least : random.nextLong(least, most + 1);
    }

    @SafeVarargs
    public final <T> T oneOf(T... values) {
        return values[below(values.length)];
    }

    public <T> T oneOf(List<T> values) {
        return values.get(below(values.size()));
    }

    public static long ms(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
