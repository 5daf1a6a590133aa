package io.holdfast.micrometer;

import io.holdfast.micrometer.LockObservationContext.Outcome;
import io.micrometer.observation.Observation;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * One observation from its start to its end. While one thread still reports the start or the grant to the handlers, another thread may end
 * the observation: the subscriber may cancel, or the lease may be lost. Then the reporting thread reports the end, too. So handlers are
 * called by one thread at a time, in order.
 */
final class Watched {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.micrometer");

    private sealed interface Stage {}

    private enum Simple implements Stage {
        IDLE,
        OPEN,
        REPORTING,
        ENDED
    }

    /** The end that another thread than the reporting one has requested. */
    private record Ending(Outcome outcome, @Nullable Throwable error) implements Stage {}

    private final Observation observation;
    private final LockObservationContext context;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Simple.IDLE);

    Watched(Observation observation, LockObservationContext context) {
        this.observation = observation;
        this.context = context;
    }

    Observation observation() {
        return observation;
    }

    /** Reports the start once. */
    void start() {
        if (stage.compareAndSet(Simple.IDLE, Simple.REPORTING)) {
            guarded(observation::start);
            reported();
        }
    }

    /** Reports that the work has the lease now. */
    void acquired(long fencingToken) {
        context.acquired(fencingToken);
        if (stage.compareAndSet(Simple.OPEN, Simple.REPORTING)) {
            guarded(() -> observation.event(LockObservationDocumentation.Event.ACQUIRED));
            reported();
        }
    }

    LockObservationContext context() {
        return context;
    }

    /** Reports the end once, and only if the start was reported. */
    void end(Outcome outcome, @Nullable Throwable error) {
        Stage seen = stage.get();
        while (seen != Simple.ENDED && !(seen instanceof Ending)) {
            Stage next = seen == Simple.REPORTING ? new Ending(outcome, error) : Simple.ENDED;
            if (stage.compareAndSet(seen, next)) {
                if (seen == Simple.OPEN) {
                    stop(outcome, error);
                }
                return;
            }
            seen = stage.get();
        }
    }

    private void reported() {
        if (!stage.compareAndSet(Simple.REPORTING, Simple.OPEN)
                && stage.getAndSet(Simple.ENDED) instanceof Ending ending) {
            stop(ending.outcome(), ending.error());
        }
    }

    private void stop(Outcome outcome, @Nullable Throwable error) {
        context.ended(outcome);
        if (error != null && outcome != Outcome.WORK_FAILED) {
            guarded(() -> observation.error(error));
        }
        guarded(observation::stop);
    }

    /** An exception of a handler must not cost a lease. */
    private void guarded(Runnable report) {
        try {
            report.run();
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            LOG.error("an observation handler threw for lock '{}'", context.lockName(), broken);
        }
    }
}
