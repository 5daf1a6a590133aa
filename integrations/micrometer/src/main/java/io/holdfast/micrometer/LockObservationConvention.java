package io.holdfast.micrometer;

import io.holdfast.micrometer.LockObservationDocumentation.HighCardinality;
import io.holdfast.micrometer.LockObservationDocumentation.LowCardinality;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import java.util.Locale;

/**
 * The names and key values of lock observations. Its methods are the defaults. Override those that you want to change, and give the
 * convention to {@link ObservedLocks.Builder#convention}, or register it as a global convention. A convention of the builder has precedence
 * over the registry's.
 *
 * <p>{@link LockObservationDocumentation} lists the key values.
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }

    /**
     * Returns the name of every lock observation.
     *
     * @return {@code holdfast.lock}
     */
    @Override
    default String getName() {
        return "holdfast.lock";
    }

    /**
     * Returns the name of the span.
     *
     * @param context the observation
     * @return such as {@code acquire stock}
     */
    @Override
    default String getContextualName(LockObservationContext context) {
        return text(context.operation()).replace('_', ' ') + " " + context.family();
    }

    @Override
    default KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
        return KeyValues.of(
                LowCardinality.BACKEND.withValue(context.backend()),
                LowCardinality.FAMILY.withValue(context.family()),
                LowCardinality.KIND.withValue(
                        context.kind().map(LockObservationConvention::text).orElse("several")),
                LowCardinality.OPERATION.withValue(text(context.operation())),
                LowCardinality.OUTCOME.withValue(text(context.outcome())));
    }

    @Override
    default KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
        KeyValues name = KeyValues.of(HighCardinality.NAME.withValue(context.lockName()));
        return context.fencingToken().isPresent()
                ? name.and(HighCardinality.FENCING_TOKEN.withValue(
                        Long.toString(context.fencingToken().getAsLong())))
                : name;
    }

    private static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
