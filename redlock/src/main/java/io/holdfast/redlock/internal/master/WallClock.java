package io.holdfast.redlock.internal.master;

import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The only class of the library that reads a wall clock. The clock never decides which claim holds a lock. It only
 * makes the proposed tokens higher than those that the masters would give by themselves. A wrong clock costs second
 * rounds, and the order of tokens after the masters have lost their data. It also says which tokens are nonsense.
 */
public final class WallClock {

    private final Clock clock;

    public WallClock(Clock clock) {
        this.clock = clock;
    }

    public static WallClock ofSystem() {
        return new WallClock(Clock.systemUTC());
    }

    public long micros() {
        Instant now = clock.instant();
        return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + TimeUnit.NANOSECONDS.toMicros(now.getNano());
    }
}
