package io.holdfast.internal.client;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.internal.engine.Randomness.Seed;
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
        ClientBuilder builder = new ClientBuilder(backend).randomness(new Randomness(seed, host.world()::random));
        LockClient.Builder known =
                builder.options(options).timer(host).listener(listener).closeBackend(true);
        return (signals == null ? known : known.deliverOn(signals)).build();
    }
}
