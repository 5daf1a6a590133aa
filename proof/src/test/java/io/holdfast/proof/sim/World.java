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

    /** The end of a schedule in true time. Far more than all steps of a schedule take. */
    private static final int MOST_SECONDS = 300;

    /** Runs the other steps while a step is blocked. */
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
     * Makes a world at time 0.
     *
     * @param isTraced whether to keep the lines of {@link #trace}
     */
    public World(long seed, boolean isTraced) {
        random = new SplittableRandom(seed);
        this.seed = seed;
        this.isTraced = isTraced;
    }

    /** Returns the true time in nanoseconds, which no process and no server knows. */
    public long now() {
        return now;
    }

    public void at(long time, Runnable task) {
        steps.add(Math.max(time, now), task);
    }

    public void after(long nanos, Runnable task) {
        at(now + nanos, task);
    }

    /** Runs all steps up to that time. */
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
     * Blocks the current step until that time. All other steps run meanwhile on another thread, so that they see no thread-local of the blocked thread.
     * When this method returns, the step continues.
     */
    public void blockUntil(long time) {
        block(() -> runUntil(time));
    }

    /** Blocks like {@link #blockUntil}, as long as the condition holds and steps are planned. */
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
            throw new AssertionError("blocked users' code stops other threads", stuck);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new AssertionError("the schedule was interrupted", stopped);
        }
    }

    /** Returns the number of steps. */
    public long steps() {
        return done;
    }

    /** Returns a hash, which is equal for two runs with the same steps at the same times. */
    public long fingerprint() {
        return fingerprint;
    }

    /** Notes a violation that no history shows. */
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

    /** Notes a line, formatted like {@link String#format}, if the world is traced. */
    @FormatMethod
    public void trace(@FormatString String what, Object... of) {
        if (isTraced) {
            trace.add("%12.3f ms  %s".formatted(now / 1e6, what.formatted(of)));
        }
    }

    public List<String> trace() {
        return trace;
    }

    /** Returns a source of random numbers for a new kind of step: the other random numbers of each seed do not change. */
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

    /** Returns a random number from 0 up to the bound, exclusive. */
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
