package io.holdfast.micrometer;

import io.holdfast.LockBackendException;
import io.holdfast.LockClosedException;
import io.holdfast.LockKind;
import io.holdfast.LockLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.micrometer.LockObservationContext.Operation;
import io.holdfast.micrometer.LockObservationContext.Outcome;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * The settings that all observations of one client share.
 *
 * @param registry makes observations
 * @param convention names the observations; null for the convention of the registry, or else the default
 * @param backend the name of the back end
 * @param families the families of lock names
 */
record Observing(
        ObservationRegistry registry,
        @Nullable LockObservationConvention convention,
        String backend,
        LockFamilies families) {

    private static final LockObservationConvention DEFAULT = new LockObservationConvention() {};

    /** The key under which Micrometer and Reactor look for the observation that encloses a subscription. */
    static final String KEY = ObservationThreadLocalAccessor.KEY;

    /**
     * What is observed.
     *
     * @param kind null for locks that are taken together
     */
    record Subject(@Nullable LockKind kind, List<String> lockNames) {}

    /** Returns an observation that has not started; null if the registry does not want one. */
    @Nullable
    Watched watch(Operation operation, Subject of, ContextView subscriber) {
        if (registry.isNoop()) {
            return null;
        }
        var context = new LockObservationContext(operation, backend, family(of.lockNames()), of.kind(), of.lockNames());
        Observation parent = subscriber.getOrDefault(KEY, null);
        if (parent != null) {
            context.setParentObservation(parent);
        }
        Observation observation = Observation.createNotStarted(convention, DEFAULT, () -> context, registry);
        return observation.isNoop() ? null : new Watched(observation, context);
    }

    /** Returns the common family of the locks, or {@code other} if they have several. */
    private String family(List<String> lockNames) {
        String first = families.of(lockNames.get(0));
        return lockNames.stream().allMatch(name -> families.of(name).equals(first)) ? first : LockFamilies.OTHER;
    }

    /** Returns the outcome of an observation whose subscriber gets this error. */
    static Outcome outcome(Throwable error, LockObservationContext of) {
        if (error instanceof LockLostException lost && of.concerns(lost.lockName())) {
            return Outcome.LOST;
        }
        if (of.fencingToken().isPresent()) {
            // This is the error of the work, even if it is about another lock. Only a failed request for this lock,
            // such as an export, is
            // not.
            return error instanceof LockBackendException failed && of.concerns(failed.lockName())
                    ? Outcome.FAILED
                    : Outcome.WORK_FAILED;
        }
        if (error instanceof LockTimeoutException) {
            return Outcome.TIMEOUT;
        }
        return error instanceof LockClosedException ? Outcome.CLOSED : Outcome.FAILED;
    }
}
