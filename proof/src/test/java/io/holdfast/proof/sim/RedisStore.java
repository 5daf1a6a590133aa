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

    RedisStore(World world, Network network, Mutant mutant, Duration claimTime) {
        this.network = network;
        this.mutant = mutant;
        this.claimTime = claimTime;
        server = new SimulatedRedis(world, "redis", Clocks.rate(world), Clocks.ahead(world), mutant.script());
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
