package io.holdfast.micrometer;

import io.holdfast.micrometer.LockObservationContext.Outcome;
import io.micrometer.observation.Observation;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * One observation from its start to its one end. The subscriber may leave, and the lease be lost, while another thread still speaks of the
 * start or of the grant: then that thread ends it, so that handlers are called by one at a time and in order.
 */
final class Watched {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.micrometer");

    private sealed interface Stage {}

    private enum Simple implements Stage {
        IDLE,
        OPEN,
        SPEAKING,
        ENDED
    }

    /** Ended by another thread than the one that speaks. */
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

    /** The first time. */
    void start() {
        if (stage.compareAndSet(Simple.IDLE, Simple.SPEAKING)) {
            guarded(observation::start);
            spoken();
        }
    }

    /** The work has the lease now. */
    void acquired(long fencingToken) {
        context.acquired(fencingToken);
        if (stage.compareAndSet(Simple.OPEN, Simple.SPEAKING)) {
            guarded(() -> observation.event(LockObservationDocumentation.Event.ACQUIRED));
            spoken();
        }
    }

    LockObservationContext context() {
        return context;
    }

    /** The first time, and if it was started. */
    void end(Outcome outcome, @Nullable Throwable error) {
        Stage seen = stage.get();
        while (seen != Simple.ENDED && !(seen instanceof Ending)) {
            Stage next = seen == Simple.SPEAKING ? new Ending(outcome, error) : Simple.ENDED;
            if (stage.compareAndSet(seen, next)) {
                if (seen == Simple.OPEN) {
                    stop(outcome, error);
                }
                return;
            }
            seen = stage.get();
        }
    }

    private void spoken() {
        if (!stage.compareAndSet(Simple.SPEAKING, Simple.OPEN)
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

    /** A handler that throws must not cost a lease. */
    private void guarded(Runnable told) {
        try {
            told.run();
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            LOG.error("an observation handler threw for lock '{}'", context.lockName(), broken);
        }
    }
}
