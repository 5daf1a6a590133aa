package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Plan.Planned;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Injects the faults of one field, one after the other. */
final class FaultThread extends Thread {

    private final Plan plan;
    private final Map<FaultKind, Strike.Fault> faults;
    private final Bound bound;
    private final Queue<Injected> injected;

    /** Written by this thread, read when it has ended. */
    private volatile @Nullable Exception failure;

    FaultThread(
            FaultKind.Field field,
            Plan plan,
            Map<FaultKind, Strike.Fault> faults,
            Bound bound,
            Queue<Injected> injected) {
        super("faults into " + field);
        setDaemon(true);
        this.plan = plan;
        this.faults = faults;
        this.bound = bound;
        this.injected = injected;
    }

    /** Of a field, those that this world knows. */
    static List<FaultKind> kinds(FaultKind.Field field, Map<FaultKind, Strike.Fault> faults) {
        return faults.keySet().stream()
                .filter(kind -> kind.field() == field)
                .sorted()
                .toList();
    }

    @Override
    public void run() {
        try {
            for (int done = 0; bound.allows(done, System.nanoTime()); done++) {
                inject(plan.next());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = e;
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    private void inject(Planned next) throws InterruptedException {
        Strike.last(next.gap());
        Strike.Fault fault = faults.get(next.kind());
        if (fault != null) {
            long fromNanos = System.nanoTime();
            fault.inject(new Strike(next.time(), next.choice()));
            injected.add(new Injected(next.kind(), fromNanos, System.nanoTime()));
        }
    }

    /** Waits for its end; fails if the world could not be broken, or repaired, as planned. */
    void await() throws InterruptedException {
        join();
        Exception cause = failure;
        if (cause != null) {
            throw new IllegalStateException(getName() + " could not go on: " + cause.getMessage(), cause);
        }
    }
}
