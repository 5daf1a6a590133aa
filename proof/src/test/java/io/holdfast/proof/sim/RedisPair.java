package io.holdfast.proof.sim;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Two simulated Redis servers under one name: a master, and a replica that follows it a little late. An operator, or a program, makes them change places
 * while connections live, and then points the name to the new master. Both have one clock, so tokens must rise.
 */
final class RedisPair {

    /** The ways to make them change places. Some leave out steps that prevent loss. */
    enum Care {
        /** As {@code FAILOVER} does: the master takes no writes until its replica has all of them. Nothing is lost. */
        WAITS,
        /** The master crashes when its replica has all. Nothing is lost. */
        CRASHES,
        /** The master crashes, and the writes under way to the replica are lost. */
        CRASHES_EARLY,
        /** The replica is promoted first: for a while both take writes, and those of the former master are lost. */
        SPLITS,
        /** The master is demoted first: for a while no server takes writes. The writes that the replica did not have then are lost. */
        DEMOTES
    }

    private static final long CHECK_AGAIN = World.ms(1);

    private final World world;
    private final long lease;
    private final long mostLag;
    private final SplittableRandom chances;
    private final List<SimulatedRedis> servers;
    private SimulatedRedis named;
    private SimulatedRedis master;
    private Replication replication;
    private boolean isChanging;
    private boolean isOver;

    /**
     * Makes a pair in which the second server follows the first.
     *
     * @param mostLag the longest lag of the replica, in nanoseconds
     */
    RedisPair(World world, long lease, long mostLag, SimulatedRedis first, SimulatedRedis second) {
        this.world = world;
        this.lease = lease;
        this.mostLag = mostLag;
        chances = world.chancesOf("replication", 0);
        servers = List.of(first, second);
        named = first;
        master = first;
        replication = new Replication(world, second, this::lag, () -> {});
        connect(true);
    }

    /** Returns the server to which the name points now. */
    SimulatedRedis named() {
        return named;
    }

    List<SimulatedRedis> servers() {
        return servers;
    }

    private SimulatedRedis other(SimulatedRedis one) {
        return servers.get(0) == one ? servers.get(1) : servers.get(0);
    }

    private long lag() {
        return chances.nextLong(20_000, Math.max(20_001, mostLag));
    }

    /** Lets the other server follow the master as soon as both are up. It copies the master's data first, unless it has the same. */
    private void connect(boolean hasTheSame) {
        SimulatedRedis replica = other(master);
        replica.demote();
        replication.end();
        if (master.isUp() && replica.isUp()) {
            replication = new Replication(world, replica, this::lag, this::connectAgain);
            replica.follow(replication);
            master.streams(replication, hasTheSame);
        } else {
            connectAgain();
        }
    }

    private void connectAgain() {
        Replication former = replication;
        world.after(World.ms(1) + lag(), () -> {
            if (former != replication) {
                return; // another step has connected them
            } else if (isChanging) {
                connectAgain();
            } else {
                connect(false);
            }
        });
    }

    /** Makes the servers change places, unless a change is under way. */
    void change(Care care) {
        if (isChanging || isOver || !master.isUp() || !other(master).isUp()) {
            return;
        }
        if (care == Care.CRASHES && !replication.isAlive()) {
            return; // the replica has not begun to follow, so it cannot have all
        }
        isChanging = true;
        SimulatedRedis former = master;
        world.trace("%s becomes the master in place of %s: %s", other(former), former, care);
        switch (care) {
            case WAITS -> {
                former.pause(lease / 2);
                promoteWhenCaughtUp(former, world.now() + lease / 3);
            }
            case CRASHES -> {
                replication.drain();
                former.crash(1 + chances.nextLong(lease), false);
                promoted(former, false);
            }
            case CRASHES_EARLY -> {
                replication.end();
                former.crash(1 + chances.nextLong(lease), false);
                later(lease / 4, () -> promoted(former, false));
            }
            case SPLITS -> {
                replication.end();
                other(former).lead();
                moveName(former);
                later(lease / 4, () -> promoted(former, false));
            }
            case DEMOTES -> {
                former.demote();
                moveName(former);
                later(lease / 4, () -> promoted(former, false));
            }
        }
    }

    private void later(long most, Runnable task) {
        world.after(1 + chances.nextLong(most), () -> {
            if (!isOver) {
                task.run();
            }
        });
    }

    private void promoteWhenCaughtUp(SimulatedRedis former, long until) {
        if (isOver) {
            return;
        }
        if (replication.isCaughtUp() && former.isUp()) {
            promoted(former, true);
            former.resume();
        } else if (world.now() < until && former.isUp()) {
            world.after(CHECK_AGAIN, () -> promoteWhenCaughtUp(former, until));
        } else {
            world.trace("%s stays the master", former);
            isChanging = false;
            former.resume();
        }
    }

    private void promoted(SimulatedRedis former, boolean hasTheSame) {
        isChanging = false;
        master = other(former);
        master.lead();
        moveName(former);
        connect(hasTheSame);
    }

    /** Some time later, a lookup of the name returns the other server. */
    private void moveName(SimulatedRedis former) {
        if (chances.nextInt(3) == 0) {
            leads(other(former));
        } else {
            later(lease / 2, () -> leads(master));
        }
    }

    private void leads(SimulatedRedis to) {
        world.trace("the name points to %s", to);
        named = to;
    }

    /** Repairs everything: both servers are up, one is the master, the other one follows it, and the name points to the master. */
    void settle() {
        isOver = true;
        isChanging = false;
        named = master;
        if (master.isReplica() || !replication.isAlive()) {
            master.lead();
            connect(false);
        }
    }
}
