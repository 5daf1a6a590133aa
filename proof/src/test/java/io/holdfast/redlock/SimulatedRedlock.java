package io.holdfast.redlock;

import io.holdfast.proof.sim.Host;
import io.holdfast.spi.LockBackend;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

/** The real Redlock back end on the clocks of a simulated process, with the randomness of its world. */
public final class SimulatedRedlock {

    private SimulatedRedlock() {}

    /** Makes the back end over members in the order of the servers. */
    public static RedlockBackend over(List<? extends LockBackend> members, Host host, Duration clockAhead) {
        return RedlockBackend.builder(members)
                .timer(host)
                .wallClock(new WallClockOf(host, clockAhead))
                .random(host.world()::random)
                .build();
    }

    /** Returns the claims and releases that a client still keeps. */
    public static int underWay(RedlockBackend backend) {
        return backend.claimCount() + backend.releaseCount();
    }

    private static final class WallClockOf extends Clock {

        private static final Instant EPOCH = Instant.ofEpochSecond(1_700_000_000L);

        private final Host host;
        private final Duration ahead;
        private final long since;

        WallClockOf(Host host, Duration ahead) {
            this.host = host;
            this.ahead = ahead;
            since = host.nanoTime();
        }

        @Override
        public Instant instant() {
            return EPOCH.plusNanos(host.nanoTime() - since).plus(ahead);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }
}
