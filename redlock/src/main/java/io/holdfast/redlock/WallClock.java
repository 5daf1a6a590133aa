package io.holdfast.redlock;

import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The one place of the library that reads a wall clock. It never decides who holds a lock: it only makes the proposed tokens run ahead of
 * those that the masters would give by themselves. A wrong clock costs second rounds, not safety.
 */
final class WallClock {

    private final Clock clock;

    WallClock(Clock clock) {
        this.clock = clock;
    }

    static WallClock ofSystem() {
        return new WallClock(Clock.systemUTC());
    }

    long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
    }
}
