package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.spi.LockBackend;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Makes an observation of each acquisition and each {@code withLock}:
 *
 * <pre>{@code
 * LockClient locks = ObservedLocks.of(LockClient.create(backend), backend, observations);
 * }</pre>
 *
 * <p><b>What is observed.</b> {@code acquire} and {@code tryAcquire} from the first request to the lease; {@code withLock} and
 * {@code withLockMany} from the first request to the end of the release, with an event {@code acquired} when the work begins. Names and
 * key values are in {@link LockObservationDocumentation}. Each observation is stopped once, however its subscription ends: before that is
 * passed on, and after a cancellation. Nested acquisitions are observed like others, those that are refused too.
 * An error of the work is no error of the observation, whose outcome is then {@link LockObservationContext.Outcome#WORK_FAILED}.
 *
 * <p><b>Nesting.</b> The parent is the observation in the Reactor Context of the subscriber, under the key of Micrometer's
 * {@code ObservationThreadLocalAccessor}; without one, the current observation of the thread that subscribes. The observation is in
 * the Context of the work, and of the requests for the lock; releases, renewals and withdrawals happen without a subscriber, and have
 * no parent. No thread-local scope is opened: that is the affair of Reactor's automatic context propagation.
 *
 * <p>Locks of the observed client behave as those of the client: cancellation, loss, re-entrancy and abandoned leases included. What a
 * handler throws is logged. With a registry that is a no-op, or whose predicate does not want the observation, nothing is done.
 */
public final class ObservedLocks {

    private ObservedLocks() {}

    /**
     * An observed client with all defaults.
     *
     * @param client stays usable, unobserved; closing either closes both
     * @param backend gives the key value {@code backend}; nothing is asked of it
     * @param registry makes the observations
     * @return a client
     */
    public static LockClient of(LockClient client, LockBackend backend, ObservationRegistry registry) {
        return builder(client, backend, registry).build();
    }

    /**
     * Starts to build an observed client.
     *
     * @param client stays usable, unobserved; closing either closes both
     * @param backend gives the key value {@code backend}; nothing is asked of it
     * @param registry makes the observations
     * @return a builder with all defaults
     */
    public static Builder builder(LockClient client, LockBackend backend, ObservationRegistry registry) {
        return new Builder(client, backend.name(), registry);
    }

    /** Collects what the observations need. Not thread-safe. */
    public static final class Builder {

        private final LockClient client;
        private final String backend;
        private final ObservationRegistry registry;
        private LockFamilies families = LockFamilies.beforeSlash();
        private @Nullable LockObservationConvention convention;

        private Builder(LockClient client, String backend, ObservationRegistry registry) {
            this.client = requireNonNull(client, "client");
            this.backend = backend;
            this.registry = requireNonNull(registry, "registry");
        }

        /**
         * What the key value {@code lock.family} says.
         *
         * @param naming default {@link LockFamilies#beforeSlash()}
         * @return this
         */
        public Builder families(LockFamilies naming) {
            families = requireNonNull(naming, "families");
            return this;
        }

        /**
         * Other names and key values.
         *
         * @param names used also if the registry has a global convention for {@link LockObservationContext}; the default is that one,
         *     or else the methods of {@link LockObservationConvention}
         * @return this
         */
        public Builder convention(LockObservationConvention names) {
            convention = requireNonNull(names, "convention");
            return this;
        }

        /**
         * Makes the client.
         *
         * @return a client
         */
        public LockClient build() {
            return new ObservedLockClient(client, new Observing(registry, convention, backend, families));
        }
    }
}
