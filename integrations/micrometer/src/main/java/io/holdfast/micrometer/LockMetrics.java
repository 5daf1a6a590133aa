package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Keeps the meters of a lock client:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder(backend).listener(LockMetrics.of(registry, backend)).build();
 * }</pre>
 *
 * <table>
 *   <caption>All have the tags {@code backend} (its {@link LockBackend#name()}) and {@code lock.family} ({@link LockFamilies}).</caption>
 *   <tr><th>meter</th><th>type</th><th>what</th></tr>
 *   <tr><td>{@code holdfast.lock.wait}</td><td>timer</td><td>from subscription to {@code outcome}: {@code acquired},
 *       {@code not_available} ({@code tryAcquire} only), {@code timeout}, {@code cancelled}, {@code closed}, {@code failed}</td></tr>
 *   <tr><td>{@code holdfast.lock.hold}</td><td>timer</td><td>from emission to {@code outcome}: {@code released},
 *       {@code unconfirmed} (released, but the store did not confirm it), {@code lost}, {@code abandoned}</td></tr>
 *   <tr><td>{@code holdfast.lock.waiting}</td><td>gauge</td><td>how many acquisitions are under way</td></tr>
 *   <tr><td>{@code holdfast.lock.held}</td><td>gauge</td><td>how many leases are handed out and have not ended</td></tr>
 *   <tr><td>{@code holdfast.lock.timeouts}</td><td>counter</td><td>acquisitions that ended by {@code waitTimeout}</td></tr>
 *   <tr><td>{@code holdfast.lock.losses}</td><td>counter</td><td>leases that were lost, by {@code reason}: {@code expired},
 *       {@code not_held}, {@code disconnected}, {@code client_closed}</td></tr>
 *   <tr><td>{@code holdfast.lock.abandoned}</td><td>counter</td><td>leases that an operator dropped</td></tr>
 *   <tr><td>{@code holdfast.lock.look.failures}</td><td>counter</td><td>requests for a lock that failed</td></tr>
 *   <tr><td>{@code holdfast.lock.renewal.failures}</td><td>counter</td><td>renewals of unknown outcome</td></tr>
 *   <tr><td>{@code holdfast.lock.unconfirmed}</td><td>counter</td><td>what the store did not confirm, by {@code operation}:
 *       {@code release}, {@code withdrawal}</td></tr>
 * </table>
 *
 * <p>Nested views of a lease are not counted. The meters of a family are registered with its first lock, all at once, and stay in the
 * registry.
 *
 * <p>Thread-safe, never blocks, and may listen to several clients: then the gauges are their sums. Two instances with the same registry,
 * back end and tags get in each other's way: a registry keeps the first gauge of a name. Give them {@link Builder#tags}, or share one.
 */
public final class LockMetrics implements LockListener {

    private final MeterRegistry registry;
    private final LockFamilies families;
    private final Tags tags;
    private final ConcurrentMap<String, FamilyMeters> meters = new ConcurrentHashMap<>();

    private LockMetrics(Builder builder) {
        registry = builder.registry;
        families = builder.families;
        tags = builder.tags.and("backend", builder.backend);
    }

    /**
     * Meters with all defaults.
     *
     * @param registry where they are registered
     * @param backend gives the tag {@code backend}; nothing is asked of it
     * @return a listener for the builder of the client
     */
    public static LockMetrics of(MeterRegistry registry, LockBackend backend) {
        return builder(registry, backend).build();
    }

    /**
     * Starts to build meters.
     *
     * @param registry where they are registered
     * @param backend gives the tag {@code backend}; nothing is asked of it
     * @return a builder with all defaults
     */
    public static Builder builder(MeterRegistry registry, LockBackend backend) {
        return new Builder(registry, backend.name());
    }

    /** Collects what the meters need. Not thread-safe. */
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
         * What the tag {@code lock.family} says.
         *
         * @param naming default {@link LockFamilies#beforeSlash()}
         * @return this
         */
        public Builder families(LockFamilies naming) {
            families = requireNonNull(naming, "families");
            return this;
        }

        /**
         * More tags for all meters, such as one that tells two clients apart.
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
        of(families.of(event.lockName())).count(event);
    }

    private FamilyMeters of(String family) {
        FamilyMeters known = meters.get(family);
        // Not twice at once: a registry would keep the gauge of one, and the other would count.
        return known != null
                ? known
                : meters.computeIfAbsent(family, it -> new FamilyMeters(registry, tags.and("lock.family", it)));
    }
}
