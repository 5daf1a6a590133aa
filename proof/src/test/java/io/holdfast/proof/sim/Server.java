package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The common part of servers: a clock that may be wrong, connections, pauses, crashes and starts. */
public abstract class Server {

    /** 2023, in microseconds. */
    private static final long EPOCH = 1_700_000_000_000_000L;

    protected final World world;
    private final String name;
    private final double rate;
    private final Deque<Runnable> late = new ArrayDeque<>();
    private final List<Wire> wires = new ArrayList<>();
    private long jumpedMicros;
    private long startedAt;
    private boolean isPaused;
    private boolean isDown;
    private int pauses;

    protected Server(World world, String name, double rate, long aheadMicros) {
        this.world = world;
        this.name = name;
        this.rate = rate;
        jumpedMicros = aheadMicros;
        startedAt = -World.ms(3_600_000);
    }

    public String name() {
        return name;
    }

    /** The wall clock of the server. */
    public long micros() {
        return EPOCH + jumpedMicros + (long) (world.now() * rate) / 1_000;
    }

    /** Returns the uptime by the server's clock. */
    public long uptimeSeconds() {
        return (long) ((world.now() - startedAt) * rate) / 1_000_000_000L;
    }

    public void jump(long micros) {
        world.trace("the clock of %s jumps by %.3f ms", name, micros / 1e3);
        jumpedMicros += micros;
    }

    public boolean isUp() {
        return !isDown;
    }

    /** Returns whether the server is up, and not paused. */
    boolean isRunning() {
        return !isDown && !isPaused;
    }

    void opened(Wire wire) {
        wires.add(wire);
    }

    /** Closes its end of the connection. */
    void closed(Wire wire) {
        if (wires.remove(wire)) {
            lost(wire);
        }
    }

    protected List<Wire> wires() {
        return wires;
    }

    /** The server notices the end of a connection. */
    protected abstract void lost(Wire wire);

    /** Drops all state that is not on the disk, and the data, too, if it is not on a disk. */
    protected abstract void forget(boolean dataToo);

    public void pause(long nanos) {
        if (isDown) {
            return;
        }
        world.trace("%s is paused for %.3f ms", name, nanos / 1e6);
        isPaused = true;
        int mine = ++pauses;
        world.after(nanos, () -> {
            if (mine == pauses) {
                resume();
            }
        });
    }

    public void resume() {
        if (isPaused) {
            world.trace("%s goes on", name);
            isPaused = false;
            while (!late.isEmpty() && !isPaused) {
                late.poll().run();
            }
        }
    }

    void receive(Runnable task) {
        if (isPaused) {
            late.add(task);
        } else if (!isDown) {
            task.run();
        }
    }

    /** Stops the server at once, and starts it again after a while. */
    public void crash(long downNanos, boolean dataToo) {
        if (isDown) {
            return;
        }
        world.trace("%s crashes for %.3f ms%s", name, downNanos / 1e6, dataToo ? " and forgets all" : "");
        isDown = true;
        isPaused = false;
        late.clear();
        pauses++;
        List.copyOf(wires).forEach(Wire::serverDied);
        wires.clear();
        forget(dataToo);
        world.after(downNanos, this::start);
    }

    public void start() {
        if (isDown) {
            isDown = false;
            startedAt = world.now();
            world.trace("%s is up again", name);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
