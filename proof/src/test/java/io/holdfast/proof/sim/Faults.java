package io.holdfast.proof.sim;

import io.holdfast.proof.sim.Network.Manners;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** Injects faults at any time, and repairs all of them in the end. */
final class Faults {

    /** One of this many schedules has this fault. */
    private static final int SELDOM = 5;

    private static final List<String> REFUSALS = List.of(
            "READONLY You can't write against a read only replica.",
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "LOADING Redis is loading the dataset in memory",
            "BUSY Redis is busy running a script.",
            "NOPERM this user has no permissions to run the 'evalsha' command");

    /** The ways to replace a master; the first two lose nothing. */
    private static final List<RedisPair.Care> CARES = List.of(
            RedisPair.Care.WAITS,
            RedisPair.Care.CRASHES,
            RedisPair.Care.CRASHES_EARLY,
            RedisPair.Care.SPLITS,
            RedisPair.Care.DEMOTES);

    private final World world;
    private final Plan plan;
    private final Network network;
    private final Store store;
    private final List<Host> hosts;
    private final Predicate<Host> holds;
    private boolean isOver;

    /**
     * Makes the faults of a world.
     *
     * @param holds whether a user in that process believes in a lease
     */
    Faults(World world, Plan plan, Network network, Store store, List<Host> hosts, Predicate<Host> holds) {
        this.world = world;
        this.plan = plan;
        this.network = network;
        this.store = store;
        this.hosts = hosts;
        this.holds = holds;
    }

    /** Plans all faults within the given time. */
    void planWithin(long nanos) {
        for (int i = 0; i < plan.faults(); i++) {
            world.at(world.between(0, nanos), plan.isTight() ? this::silence : this::happen);
        }
        if (!plan.isTight() && !plan.is(Plan.Weather.CALM)) {
            planOfRedis(nanos);
            store.pairs().forEach(pair -> planOfReplica(pair, nanos));
        }
        if (!plan.is(Plan.Weather.CALM)) {
            new EnsembleFaults(world, network, plan, store.servers(), hosts, holds).planWithin(nanos, this::unlessOver);
        }
        store.planFaults(plan, nanos, () -> isOver);
    }

    /** Lets a master and its replica change places; in wild weather also so that writes are lost. */
    private void planOfReplica(RedisPair pair, long nanos) {
        SplittableRandom chances = world.chancesOf("changes of places", 0);
        // With a hand-over, tokens may be ahead of the clock by what a turn uses up.
        boolean loses = plan.is(Plan.Weather.WILD) && !plan.jumps() && store.mostPerTurn() == 1;
        for (int i = 1 + chances.nextInt(3); i > 0; i--) {
            RedisPair.Care care = CARES.get(chances.nextInt(loses ? CARES.size() : 2));
            world.at(chances.nextLong(nanos), () -> unlessOver(() -> pair.change(care)));
        }
    }

    /** In some schedules, servers refuse all scripts for a while. In some, servers come back with an earlier state after a loss. */
    private void planOfRedis(long nanos) {
        SplittableRandom chances = world.chancesOf("faults of Redis", 0);
        boolean refuses = chances.nextInt(SELDOM) == 0;
        boolean saves = chances.nextInt(SELDOM) == 0;
        for (Server server : store.servers()) {
            if (server instanceof SimulatedRedis redis) {
                for (int i = 0; refuses && i < 2; i++) {
                    String error = REFUSALS.get(chances.nextInt(REFUSALS.size()));
                    long length = chances.nextLong(1, 2 * plan.lease().toNanos());
                    world.at(chances.nextLong(nanos), () -> unlessOver(() -> redis.refuse(error, length)));
                }
                for (int i = 0; saves && i < 3; i++) {
                    world.at(chances.nextLong(nanos), () -> unlessOver(redis::save));
                }
            }
        }
    }

    private void unlessOver(Runnable fault) {
        if (!isOver) {
            fault.run();
        }
    }

    /** Cuts a process off from all servers in one direction, usually as soon as one of its users holds a lock. */
    private void silence() {
        if (isOver) {
            return;
        }
        List<Host> holders = hosts.stream().filter(holds).toList();
        if (holders.isEmpty() && world.chance(0.9)) {
            world.after(plan.lease().toNanos() / 20, this::silence);
        } else if (plan.hasLastWords()) {
            lastWords(world.oneOf(holders.isEmpty() ? hosts : holders));
        } else {
            silence(world.oneOf(holders.isEmpty() ? hosts : holders));
        }
    }

    /** Silences a process for longer than a lease. The last server that heard it may not tell the leader. */
    private void silence(Host host) {
        long lease = plan.lease().toNanos();
        long nanos = world.between(lease, 2 * lease);
        store.servers().forEach(server -> network.stall(host.name(), server.name(), nanos));
        if (store.servers().size() > 1 && world.chance(0.7)) {
            store.servers().stream()
                    .filter(it -> EnsembleFaults.isConnected(host, it))
                    .findFirst()
                    .ifPresent(it -> it.crash(world.between(0, lease), false));
        }
    }

    /**
     * For a while, the messages of the process reach its server at once and are answered. Then that server crashes, perhaps before it has told the
     * leader. No other server hears the process for longer than a lease.
     */
    private void lastWords(Host host) {
        long lease = plan.lease().toNanos();
        List<? extends Server> all = store.servers();
        all.stream()
                .filter(it -> !isLeader(it) && EnsembleFaults.isConnected(host, it))
                .findFirst()
                .ifPresent(last -> {
                    long nanos = world.between(lease / 12, lease / 5);
                    all.forEach(it -> network.stall(host.name(), it.name(), it == last ? nanos : 2 * lease));
                    world.after(nanos + world.between(World.ms(2), lease / 40), () -> {
                        if (!isOver) {
                            last.crash(world.between(0, lease), false);
                        }
                    });
                });
    }

    private static boolean isLeader(Server server) {
        return server instanceof ZooServer zoo && zoo.leads();
    }

    private long aWhile() {
        long lease = plan.lease().toNanos();
        return world.chance(0.6) ? world.between(0, lease / 3) : world.between(0, 2 * lease);
    }

    private void happen() {
        if (isOver) {
            return;
        }
        Host host = world.oneOf(hosts);
        if (store.servers().isEmpty() || world.chance(0.2)) {
            if (world.chance(0.15)) {
                killUnlessLast(host);
            } else {
                host.pause(aWhile());
            }
            return;
        }
        Server server = world.oneOf(store.servers());
        switch (world.below(plan.is(Plan.Weather.WILD) ? 12 : 7)) {
            case 0 -> server.pause(aWhile());
            case 1 -> network.stall(host.name(), server.name(), aWhile());
            case 2 -> network.stall(server.name(), host.name(), aWhile());
            case 3, 4 -> {
                List<Wire> wires = new ArrayList<>(server.wires());
                if (!wires.isEmpty()) {
                    (world.chance(0.7) ? List.of(world.oneOf(wires)) : wires).forEach(Wire::cut);
                }
            }
            case 5 -> {
                if (store.servers().size() > 1 && world.chance(0.4)) {
                    oneAfterTheOther();
                } else {
                    server.crash(aWhile(), plan.forgets() && world.chance(0.6));
                }
            }
            case 6 -> {
                Server other = world.oneOf(store.servers());
                network.stall(server.name(), other.name(), aWhile());
                if (server instanceof SimulatedRedis redis) {
                    world.trace("the scripts of %s are flushed", server);
                    redis.flushScripts();
                }
            }
            default -> {
                if (plan.jumps()) {
                    server.jump(world.between(-3, 3) * plan.lease().toMillis() * 500);
                } else {
                    server.crash(aWhile(), true);
                }
            }
        }
    }

    /** Restarts all servers as in an upgrade: two are down at the same time for a moment at most. */
    private void oneAfterTheOther() {
        long when = 0;
        for (Server server : store.servers()) {
            long at = when;
            world.after(at, () -> {
                if (!isOver) {
                    server.crash(world.between(0, plan.lease().toNanos() / 10), plan.forgets());
                }
            });
            when += world.between(0, plan.lease().toNanos() / 4);
        }
    }

    private void killUnlessLast(Host host) {
        if (host.isBlocked()) {
            host.pause(aWhile()); // a blocked thread would continue as if it were alive
        } else if (hosts.stream().filter(it -> !it.isDead()).count() > 1) {
            host.kill();
            // Its messages may still arrive; then the system of that machine closes its connections.
            store.servers()
                    .forEach(server -> List.copyOf(server.wires()).stream()
                            .filter(wire -> wire.client() == host)
                            .forEach(Wire::close));
        }
    }

    void end() {
        isOver = true;
        world.trace("no more faults");
        network.heal();
        network.manners(new Manners(World.ms(1), 0, 0, 0));
        hosts.forEach(Host::resume);
        store.servers().forEach(server -> {
            server.resume();
            server.start();
            if (server instanceof SimulatedRedis redis) {
                redis.refuseNoMore();
            }
        });
        store.pairs().forEach(RedisPair::settle);
    }
}
