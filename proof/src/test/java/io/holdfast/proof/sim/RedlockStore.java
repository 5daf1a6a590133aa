package io.holdfast.proof.sim;

import io.holdfast.redis.SimulatedDriver;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.redlock.SimulatedRedlock;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Five simulated Redis servers, or three, and the real Redlock over the real back ends in each process. */
final class RedlockStore implements Store {

    private final World world;
    private final Network network;
    private final Mutant mutant;
    private final Plan plan;
    private final List<SimulatedRedis> servers;
    private final List<RedlockBackend> backends = new ArrayList<>();

    RedlockStore(World world, Network network, Mutant mutant, Plan plan) {
        this.world = world;
        this.network = network;
        this.mutant = mutant;
        this.plan = plan;
        servers = IntStream.rangeClosed(1, world.chance(0.85) ? 3 : 5)
                .mapToObj(i -> new SimulatedRedis(
                        world, "redis" + i, Clocks.rate(world), Clocks.ahead(world), mutant.script()))
                .toList();
        if (world.chancesOf("tenants", 0).nextInt(4) == 0) {
            servers.forEach(it -> it.admit(new ChannelTenant(world, plan.lease().toNanos(), it::deliver)));
        }
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        Duration quarantine = mutant.hasQuarantine() ? plan.lease() : Duration.ZERO;
        List<LockBackend> members = servers.stream()
                .map(server -> mutant.member()
                        .apply(
                                host,
                                SimulatedDriver.backend(
                                        host, network, server, plan.claimTime(), quarantine, identity.name())))
                .toList();
        RedlockBackend backend = SimulatedRedlock.over(members, host, Duration.ofNanos(Clocks.ahead(world) * 1_000));
        backends.add(backend);
        return mutant.backend().apply(host, backend);
    }

    @Override
    public List<SimulatedRedis> servers() {
        return servers;
    }

    @Override
    public boolean isFair() {
        return false;
    }

    @Override
    public boolean readersMayShare() {
        return true;
    }

    @Override
    public boolean hasSemaphores() {
        return false;
    }

    @Override
    public long recoveryNanos(Plan planned) {
        return planned.lease().toNanos() + World.ms(30_000);
    }

    @Override
    public List<String> leftovers() {
        List<String> left = new ArrayList<>();
        servers.forEach(server -> server.leftovers().forEach(key -> left.add(server.name() + " " + key)));
        return left;
    }
}
