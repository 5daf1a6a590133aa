package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.internal.tenure.StoreFedBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.support.OwnerLabel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Collects the settings of a client; see {@link LockClient.Builder}. Public only because the API's package uses it. */
public final class ClientBuilder implements LockClient.Builder {

    private static final Duration LEAST_OPERATION = Duration.ofMillis(1);

    private final LockBackend backend;
    private LockOptions options = LockOptions.defaults();
    private @Nullable Duration operationTimeout;
    private @Nullable Scheduler timer;
    private @Nullable Scheduler deliverOn;
    private @Nullable LockListener listener;
    private boolean closeBackend = true;
    private int maxWaiters = Engine.NO_LIMIT;
    private @Nullable String owner;
    private Randomness randomness = Randomness.ofSystem();

    public ClientBuilder(LockBackend backend) {
        this.backend = requireNonNull(backend, "backend");
    }

    @Override
    public LockClient.Builder options(LockOptions defaults) {
        options = requireNonNull(defaults, "options");
        return this;
    }

    @Override
    public LockClient.Builder operationTimeout(Duration limit) {
        requireNonNull(limit, "operationTimeout");
        if (limit.compareTo(LEAST_OPERATION) < 0) {
            throw new IllegalArgumentException("operationTimeout must be at least 1 ms, was " + limit);
        }
        operationTimeout = limit;
        return this;
    }

    @Override
    public LockClient.Builder timer(Scheduler clockAndDelays) {
        timer = requireNonNull(clockAndDelays, "timer");
        return this;
    }

    @Override
    public LockClient.Builder deliverOn(Scheduler signals) {
        deliverOn = requireNonNull(signals, "deliverOn");
        return this;
    }

    @Override
    public LockClient.Builder listener(LockListener receiver) {
        listener = requireNonNull(receiver, "listener");
        return this;
    }

    @Override
    public LockClient.Builder closeBackend(boolean close) {
        closeBackend = close;
        return this;
    }

    @Override
    public LockClient.Builder maxWaiters(int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("maxWaiters must be at least 1, was " + limit);
        }
        maxWaiters = limit;
        return this;
    }

    @Override
    public LockClient.Builder owner(String label) {
        owner = OwnerLabel.require(requireNonNull(label, "owner"));
        return this;
    }

    /** Sets another source of randomness, so that a client is repeatable; for tests. */
    @CanIgnoreReturnValue
    ClientBuilder randomness(Randomness source) {
        randomness = source;
        return this;
    }

    @Override
    public LockClient build() {
        Scheduler clock = timer != null ? timer : Schedulers.parallel();
        String label = owner != null ? owner : randomness.owner();
        Duration limit = operationTimeout;
        Engine engine = new Engine(
                StoreFedBackend.inFrontOf(backend, clock, lease -> Engine.operationTimeout(limit, lease)),
                clock,
                deliverOn,
                new Events(listener),
                operationTimeout,
                maxWaiters,
                randomness,
                label);
        return new DefaultLockClient(engine, options, clock, closeBackend);
    }
}
