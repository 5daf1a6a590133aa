package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

/** What a master sends to one replica: all that it writes and publishes, in order, and a little late. Begins with a copy of the data. */
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
     * Nothing is sent yet.
     *
     * @param lag how long the next message takes, in nanoseconds
     * @param atEnd run when either of both crashes
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

    /** All that one script has done is one message, as in a transaction. */
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

    /** What is under way arrives now. */
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

    /** Tells when the master knows that the replica has all that was sent up to now. */
    void whenApplied(Runnable told) {
        if (isCaughtUp()) {
            world.after(lag.getAsLong(), told);
        } else {
            wanted.add(new Acknowledgement(sent, told));
        }
    }

    /** What is under way is lost. */
    void end() {
        isOver = true;
        underWay.clear();
        wanted.clear();
    }

    /** One of both has crashed. */
    void isBroken() {
        if (!isOver) {
            end();
            atEnd.run();
        }
    }
}
