package io.holdfast.internal.client;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.internal.engine.Randomness.Seed;
import io.holdfast.internal.tenure.StoreFedBackend;
import io.holdfast.proof.sim.Host;
import io.holdfast.spi.LockBackend;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/** The real engine on the clock of a simulated process, with the randomness of its world. */
public final class SimulatedClients {

    private SimulatedClients() {}

    /**
     * Makes a client that closes its back end. It delivers its signals on the given thread, if there is one.
     *
     * @param bits the random bits from which the client makes its claim ids
     */
    public static LockClient client(
            Host host,
            LongSupplier bits,
            LockBackend backend,
            LockOptions options,
            LockListener listener,
            @Nullable Scheduler signals) {
        Seed seed = new Seed(bits.getAsLong(), bits.getAsLong(), bits.getAsLong());
        Engine engine = new Engine(
                StoreFedBackend.inFrontOf(backend, host, lease -> Engine.operationTimeout(null, lease)),
                host,
                signals,
                new Events(listener),
                null,
                Engine.NO_LIMIT,
                new Randomness(seed, host.world()::random),
                "repeatable:host:1");
        return new DefaultLockClient(engine, options, host, true);
    }
}
