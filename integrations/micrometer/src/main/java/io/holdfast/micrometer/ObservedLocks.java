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
 * <p><b>What is observed.</b> {@code acquire} and {@code tryAcquire} from the first request to the lease; {@code withLock} and {@code
 * withLockMany} from the first request to the end of the release, with an event {@code acquired} when the work begins. Names and key values
 * are in {@link LockObservationDocumentation}. Each observation is stopped once: before the end of its subscription is emitted, or after a
 * cancellation. Nested acquisitions are observed like others, and so are refused ones. An error of the work is not an error of the
 * observation. Its outcome is then {@link LockObservationContext.Outcome#WORK_FAILED}.
 *
 * <p><b>Nesting.</b> The parent is the observation in the Reactor Context of the subscriber, under the key of Micrometer's {@code
 * ObservationThreadLocalAccessor}; without one, the current observation of the thread that subscribes. The observation is in the Context of
 * the work, and of the requests for the lock. Releases, renewals and withdrawals have no subscriber, and so no parent. This class opens no
 * thread-local scope: Reactor's automatic context propagation does that.
 *
 * <p>Locks of the observed client behave like those of the client, also in cancellation, loss, re-entrancy and abandoned leases. Exceptions
 * of handlers are logged. If the registry is a no-op, or its predicate refuses the observation, there is no observation.
 */
public final class ObservedLocks {

    private ObservedLocks() {}

    /**
     * Returns an observed client with all defaults.
     *
     * @param client the client, which stays usable without observations; closing either of the two closes both
     * @param backend its name is the key value {@code backend}; no request is sent to it
     * @param registry makes the observations
     * @return a client
     */
    public static LockClient of(LockClient client, LockBackend backend, ObservationRegistry registry) {
        return builder(client, backend, registry).build();
    }

    /**
     * Returns a builder of an observed client.
     *
     * @param client the client, which stays usable without observations; closing either of the two closes both
     * @param backend its name is the key value {@code backend}; no request is sent to it
     * @param registry makes the observations
     * @return a builder with all defaults
     */
    public static Builder builder(LockClient client, LockBackend backend, ObservationRegistry registry) {
        return new Builder(client, backend.name(), registry);
    }

    /** Collects the settings of the observations. Not thread-safe. */
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
         * Sets the families for the key value {@code lock.family}.
         *
         * @param naming default {@link LockFamilies#beforeSlash()}
         * @return this
         */
        public Builder families(LockFamilies naming) {
            families = requireNonNull(naming, "families");
            return this;
        }

        /**
         * Sets the convention of names and key values.
         *
         * @param names the convention, which has precedence over a global convention of the registry for {@link LockObservationContext}.
         *     The default is that global one, or else the methods of {@link LockObservationConvention}
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
