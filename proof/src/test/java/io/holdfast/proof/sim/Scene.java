package io.holdfast.proof.sim;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.internal.client.SimulatedClients;
import io.holdfast.proof.sim.Network.Manners;
import io.holdfast.redis.SimulatedDriver;
import io.holdfast.redis.WrongDriver;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import reactor.core.Disposable;

/** A simulated Redis and real clients. A test scripts the events. */
final class Scene {

    static final Duration CLAIM_TIME = Duration.ofSeconds(2);

    private final World world = new World(1, false);
    private final Network network = new Network(world, new Manners(World.ms(1), 0, 0, 0));
    private final SimulatedRedis first = server("redis");
    private final SimulatedRedis second = server("replica");
    private final List<Host> hosts = new ArrayList<>();

    private SimulatedRedis server(String name) {
        return new SimulatedRedis(world, name, 1, 0, it -> it);
    }

    World world() {
        return world;
    }

    SimulatedRedis server() {
        return first;
    }

    /** Gives the server a replica, from the beginning. */
    RedisPair pair() {
        return new RedisPair(world, World.ms(60), World.ms(1), first, second);
    }

    LockClient client() {
        return client(() -> first, WrongDriver.NONE);
    }

    /** Opens a client in a process of its own. */
    LockClient client(Supplier<SimulatedRedis> address, WrongDriver wrong) {
        Host host = new Host(world, "p" + hosts.size(), 1);
        hosts.add(host);
        return SimulatedClients.client(
                host,
                world::bits,
                SimulatedDriver.backend(
                        host,
                        network,
                        RedisURI.create("redis://redis"),
                        address,
                        it -> it.claimTime(CLAIM_TIME),
                        wrong,
                        "client" + hosts.size()),
                LockOptions.defaults(),
                event -> {},
                null);
    }

    /** Returns the connections of a client, as its server sees them, oldest first. */
    List<Wire> wires(int client, SimulatedRedis at) {
        return at.wires().stream()
                .filter(wire -> wire.client() == hosts.get(client))
                .toList();
    }

    void run(Duration time) {
        world.runUntil(world.now() + time.toNanos());
    }

    /** Repeatedly acquires the lock, and releases it after a while. */
    void useForEver(LockClient client, String lock, Duration hold) {
        useForEver(client, hosts.get(0), lock, hold);
    }

    private void useForEver(LockClient client, Host host, String lock, Duration hold) {
        Disposable unused = client.lock(lock)
                .acquire()
                .subscribe(
                        lease -> host.schedule(
                                () -> release(lease, () -> useForEver(client, host, lock, hold)),
                                hold.toNanos(),
                                TimeUnit.NANOSECONDS),
                        error -> useForEver(client, host, lock, hold));
    }

    private static void release(LockLease lease, Runnable then) {
        Disposable unused = lease.release().subscribe(nothing -> {}, error -> then.run(), then);
    }
}
