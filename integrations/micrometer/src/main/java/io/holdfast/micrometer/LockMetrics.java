package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.LockListener;
import io.holdfast.micrometer.LockMeterDocumentation.TagName;
import io.holdfast.spi.LockBackend;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Keeps the meters of a lock client:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder(backend).listener(LockMetrics.of(registry, backend)).build();
 * }</pre>
 *
 * <p>{@link LockMeterDocumentation} lists them. All have the tags {@code backend} (its {@link LockBackend#name()}), {@code lock.family}
 * ({@link LockFamilies}) and {@code lock.kind} ({@code mutex}, {@code read}, {@code write} or {@code semaphore}).
 *
 * <p>Nested views of a lease are not counted. All meters of a family are registered with its first lock of each kind, and stay in the registry.
 *
 * <p>Thread-safe, and never blocks. One instance may listen to several clients: then the gauges are sums. Two instances with the same
 * registry, back end and tags conflict, because a registry keeps only the first gauge of a name. Give them different {@link Builder#tags},
 * or share one instance.
 */
public final class LockMetrics implements LockListener {

    private final MeterRegistry registry;
    private final LockFamilies families;
    private final Tags tags;
    private final Map<LockKind, ConcurrentMap<String, FamilyMeters>> meters = new EnumMap<>(LockKind.class);

    private LockMetrics(Builder builder) {
        registry = builder.registry;
        families = builder.families;
        tags = builder.tags.and(TagName.BACKEND.asString(), builder.backend);
        for (LockKind kind : LockKind.values()) {
            meters.put(kind, new ConcurrentHashMap<>());
        }
    }

    /**
     * Returns meters with all defaults.
     *
     * @param registry the registry of the meters
     * @param backend its name is the tag {@code backend}; no request is sent to it
     * @return a listener for the builder of the client
     */
    public static LockMetrics of(MeterRegistry registry, LockBackend backend) {
        return builder(registry, backend).build();
    }

    /**
     * Returns a builder of meters.
     *
     * @param registry the registry of the meters
     * @param backend its name is the tag {@code backend}; no request is sent to it
     * @return a builder with all defaults
     */
    public static Builder builder(MeterRegistry registry, LockBackend backend) {
        return new Builder(registry, backend.name());
    }

    /** Collects the settings of the meters. Not thread-safe. */
    public static final class Builder {

        private final MeterRegistry registry;
        private final String backend;
        private LockFamilies families = LockFamilies.beforeSlash();
        private Tags tags = Tags.empty();

        private Builder(MeterRegistry registry, String backend) {
            this.registry = requireNonNull(registry, "registry");
            this.backend = backend;
        }

        /**
         * Sets the families for the tag {@code lock.family}.
         *
         * @param naming default {@link LockFamilies#beforeSlash()}
         * @return this
         */
        public Builder families(LockFamilies naming) {
            families = requireNonNull(naming, "families");
            return this;
        }

        /**
         * Sets more tags for all meters, such as one that distinguishes two clients.
         *
         * @param more default none
         * @return this
         */
        public Builder tags(Iterable<Tag> more) {
            tags = Tags.of(requireNonNull(more, "tags"));
            return this;
        }

        /**
         * Makes the listener.
         *
         * @return a listener for the builder of the client; nothing is registered yet
         */
        public LockMetrics build() {
            return new LockMetrics(this);
        }
    }

    @Override
    public void onEvent(LockEvent event) {
        of(event.subject().kind(), families.of(event.lockName())).count(event);
    }

    private FamilyMeters of(LockKind kind, String family) {
        ConcurrentMap<String, FamilyMeters> ofKind = requireNonNull(meters.get(kind));
        FamilyMeters known = ofKind.get(family);
        // Must not run twice at once: the registry would keep the gauge of one instance, and the other instance would
        // count.
        return known != null
                ? known
                : ofKind.computeIfAbsent(
                        family,
                        it -> new FamilyMeters(
                                registry,
                                tags.and(
                                        TagName.FAMILY.asString(),
                                        it,
                                        TagName.KIND.asString(),
                                        FamilyMeters.value(kind))));
    }
}
