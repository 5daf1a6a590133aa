package io.holdfast.proof.sim;

import io.holdfast.redis.SimulatedDriver;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;

/** One simulated Redis, and the real back end in each process. */
final class RedisStore implements Store {

    private final Network network;
    private final Mutant mutant;
    private final Duration claimTime;
    private final SimulatedRedis server;
    private int clients;

    RedisStore(World world, Network network, Mutant mutant, Duration lease, Duration claimTime) {
        this.network = network;
        this.mutant = mutant;
        this.claimTime = claimTime;
        double rate = Clocks.rate(world);
        long ahead = Clocks.ahead(world);
        server = new SimulatedRedis(world, "redis", rate, ahead, mutant.script());
        if (ahead % 2 != 0) { // of a random number: so the world need not draw another one
            server.admit(new ChannelTenant(world, lease.toNanos(), server::deliver));
        }
    }

    @Override
    public LockBackend backend(Host host) {
        LockBackend backend =
                SimulatedDriver.backend(host, network, server, claimTime, Duration.ZERO, "client" + ++clients);
        return mutant.backend().apply(host, mutant.member().apply(host, backend));
    }

    @Override
    public List<SimulatedRedis> servers() {
        return List.of(server);
    }

    @Override
    public List<String> leftovers() {
        return server.leftovers();
    }
}
