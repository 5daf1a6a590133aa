package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

/** Sends all writes and messages of a master to one replica, in order, and a little late. It begins with a copy of the data. */
final class Replication {

    private record Acknowledgement(long position, Runnable told) {}

    private final World world;
    private final SimulatedRedis replica;
    private final LongSupplier lag;
    private final Runnable atEnd;
    private final Deque<Runnable> underWay = new ArrayDeque<>();
    private final List<Acknowledgement> wanted = new ArrayList<>();
    private long lastArrival;
    private long sent;
    private long applied;
    private boolean isOver;

    /**
     * Makes the link, but sends nothing yet.
     *
     * @param lag the delay of the next message, in nanoseconds
     * @param atEnd runs when one of the servers crashes
     */
    Replication(World world, SimulatedRedis replica, LongSupplier lag, Runnable atEnd) {
        this.world = world;
        this.replica = replica;
        this.lag = lag;
        this.atEnd = atEnd;
    }

    SimulatedRedis replica() {
        return replica;
    }

    /** Sends all writes of one script as one message, as in a transaction. */
    void send(Runnable atReplica) {
        if (isOver) {
            return;
        }
        sent++;
        underWay.add(atReplica);
        lastArrival = Math.max(lastArrival + 1, world.now() + lag.getAsLong());
        world.at(lastArrival, () -> replica.receive(this::applyNext));
    }

    private void applyNext() {
        if (isOver || underWay.isEmpty()) {
            return;
        }
        applied++;
        underWay.poll().run();
        wanted.removeIf(one -> {
            if (one.position() <= applied) {
                world.after(lag.getAsLong(), one.told());
            }
            return one.position() <= applied;
        });
    }

    /** Delivers all messages under way. */
    void drain() {
        while (!isOver && !underWay.isEmpty()) {
            applyNext();
        }
    }

    boolean isAlive() {
        return !isOver;
    }

    boolean isCaughtUp() {
        return !isOver && underWay.isEmpty();
    }

    /** Calls back when the master knows that the replica has all messages up to now. */
    void whenApplied(Runnable told) {
        if (isCaughtUp()) {
            world.after(lag.getAsLong(), told);
        } else {
            wanted.add(new Acknowledgement(sent, told));
        }
    }

    /** Drops all messages under way. */
    void end() {
        isOver = true;
        underWay.clear();
        wanted.clear();
    }

    /** Ends the link, since one of the servers has crashed. */
    void isBroken() {
        if (!isOver) {
            end();
            atEnd.run();
        }
    }
}
