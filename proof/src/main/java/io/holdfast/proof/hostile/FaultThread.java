package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Plan.Planned;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Injects the faults of one field, one after the other. */
final class FaultThread extends Thread {

    private final Plan plan;
    private final Map<FaultKind, Strike.Fault> faults;
    private final Size size;
    private final FaultLog log;

    /** Written by this thread, read when it has ended. */
    private volatile @Nullable Exception failure;

    /**
     * The thread of one field.
     *
     * @param faults the injection for each kind of the plan
     */
    FaultThread(Plan plan, Size size, Map<FaultKind, Strike.Fault> faults, FaultLog log) {
        super("faults " + plan.kinds());
        setDaemon(true);
        this.plan = plan;
        this.faults = faults;
        this.size = size;
        this.log = log;
    }

    @Override
    public void run() {
        try {
            long startNanos = System.nanoTime();
            int kinds = plan.kinds().size();
            for (int done = 0; size.allows(done, kinds, System.nanoTime() - startNanos); done++) {
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
            log.begins(fromNanos, next);
            fault.inject(new Strike(next.time(), next.choice()));
            log.ended(new Injected(next.kind(), fromNanos, System.nanoTime()));
        }
    }

    /** Waits for the end of the thread. Returns why it could not inject or repair a fault as planned, if so. */
    Optional<String> await() throws InterruptedException {
        join();
        return Optional.ofNullable(failure).map(cause -> getName() + " could not continue: " + cause);
    }
}
