package io.holdfast.redlock;

import io.holdfast.redlock.internal.master.WallClock;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/** A wall clock that goes with virtual time, and may be wrong by any amount. */
class MutableClock extends Clock {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final Scheduler time;
    Duration wrongBy = Duration.ZERO;

    MutableClock(Scheduler time) {
        this.time = time;
    }

    @Override
    public Instant instant() {
        return START.plusNanos(time.now(TimeUnit.NANOSECONDS)).plus(wrongBy);
    }

    long micros() {
        return new WallClock(this).micros();
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
