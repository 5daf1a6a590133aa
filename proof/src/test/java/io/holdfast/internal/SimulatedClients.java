package io.holdfast.internal;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.proof.sim.Host;
import io.holdfast.proof.sim.World;
import io.holdfast.spi.LockBackend;

/** The real engine on the clock of a simulated process, with the randomness of its world. */
public final class SimulatedClients {

    private SimulatedClients() {}

    /** A client that closes its back end, unless that is shared. */
    public static LockClient client(
            Host host, LockBackend backend, LockOptions options, LockListener listener, boolean isShared) {
        World world = host.world();
        Seed seed = new Seed(world.bits(), world.bits(), world.bits());
        ClientBuilder builder = new ClientBuilder(backend).chance(new Chance(seed, world::random));
        return builder.options(options)
                .timer(host)
                .listener(listener)
                .closeBackend(!isShared)
                .build();
    }
}
