package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Sets the clocks of servers, each for a while. A clock that jumps ahead ends leases early: each such jump is a gap. A jump back is no gap.
 *
 * <p>After data loss, tokens rise by the clock alone. So the time between a loss and a jump back is at least as long as the jump, as the guarantees
 * require. One thread calls this class.
 */
final class ServerClocks {

    private static final double LEAST_LEASES = 0.3;
    private static final double MORE_LEASES = 1.7;

    private final Duration lease;
    private final List<ServerClock> clocks = new ArrayList<>();
    private final List<Gap> gaps = new CopyOnWriteArrayList<>();

    /** The time of the last data loss, and the time before which no data may be lost, because a clock has shown a later time. */
    private long lossNanos;

    private long noLossUntilNanos;

    ServerClocks(Duration lease) {
        this.lease = lease;
        long now = System.nanoTime();
        lossNanos = now;
        noLossUntilNanos = now;
    }

    /** Adds a clock, in the order of the servers. */
    void add(ServerClock clock) {
        clocks.add(clock);
    }

    Map<FaultKind, Fault> faults() {
        return clocks.isEmpty()
                ? Map.of()
                : Map.of(FaultKind.CLOCK_SET_FORWARD, this::setForward, FaultKind.CLOCK_SET_BACK, this::setBack);
    }

    /** Sets a clock. */
    interface Fault {
        void inject(List<RedisServer> servers, Strike strike) throws InterruptedException;
    }

    private void setForward(List<RedisServer> servers, Strike strike) throws InterruptedException {
        int which = strike.choice() % servers.size();
        Duration step = step(strike);
        jumpAhead(servers.get(which), clocks.get(which), step);
        try {
            strike.last();
        } finally {
            clocks.get(which).set(servers.get(which), Duration.ZERO);
            noLossUntilNanos = System.nanoTime() + step.toNanos();
        }
    }

    private void setBack(List<RedisServer> servers, Strike strike) throws InterruptedException {
        int which = strike.choice() % servers.size();
        Duration step = step(strike);
        sleepUntil(lossNanos + step.toNanos());
        clocks.get(which).set(servers.get(which), step.negated());
        try {
            strike.last();
        } finally {
            jumpAhead(servers.get(which), clocks.get(which), Duration.ZERO);
        }
    }

    private void jumpAhead(RedisServer server, ServerClock clock, Duration to) throws InterruptedException {
        long fromNanos = System.nanoTime();
        clock.set(server, to);
        gaps.add(new Gap(fromNanos, System.nanoTime()));
    }

    private Duration step(Strike strike) {
        double leases = LEAST_LEASES + MORE_LEASES * strike.other(1_000) / 1_000;
        return Duration.ofMillis((long) (lease.toMillis() * leases));
    }

    /** Waits until a server may lose its data. The caller deletes the data afterwards. */
    void awaitLossAllowed() throws InterruptedException {
        sleepUntil(noLossUntilNanos);
    }

    /** Notes that a server that lost its data grants locks again. */
    void lost() {
        lossNanos = System.nanoTime();
    }

    List<Gap> gaps() {
        return List.copyOf(gaps);
    }

    private static void sleepUntil(long nanos) throws InterruptedException {
        Strike.last(Duration.ofNanos(Math.max(0, nanos - System.nanoTime())));
    }
}
