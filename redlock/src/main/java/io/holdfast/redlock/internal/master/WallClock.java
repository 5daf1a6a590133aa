package io.holdfast.redlock.internal.master;

import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The one place of the library that reads a wall clock. It never decides who holds a lock: it only makes the proposed tokens run ahead of
 * those that the masters would give by themselves. A wrong clock costs second rounds, not safety.
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
        return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
    }
}
