package io.holdfast.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import java.util.Locale;

/**
 * The names and key values of lock observations. Its methods are the defaults; override what you want to be different, and give it to
 * {@link ObservedLocks.Builder#convention}, or register it as a global convention.
 *
 * <p>Low cardinality, for meters and spans: {@code backend}, {@code lock.family}, {@code operation}, {@code outcome}. High cardinality,
 * for spans only: {@code lock.name}, and {@code lock.fencing.token} once there is a lease.
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }

    /**
     * The name of every lock observation.
     *
     * @return {@code holdfast.lock}
     */
    @Override
    default String getName() {
        return "holdfast.lock";
    }

    /**
     * The name of the span.
     *
     * @param context the observation
     * @return such as {@code acquire stock}
     */
    @Override
    default String getContextualName(LockObservationContext context) {
        return context.operation().name().toLowerCase(Locale.ROOT).replace('_', ' ') + " " + context.family();
    }

    @Override
    default KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
        return KeyValues.of(
                "backend", context.backend(),
                "lock.family", context.family(),
                "operation", context.operation().name().toLowerCase(Locale.ROOT),
                "outcome", context.outcome().name().toLowerCase(Locale.ROOT));
    }

    @Override
    default KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
        KeyValues name = KeyValues.of("lock.name", context.lockName());
        return context.fencingToken().isPresent()
                ? name.and(KeyValue.of(
                        "lock.fencing.token",
                        Long.toString(context.fencingToken().getAsLong())))
                : name;
    }
}
