package io.holdfast.internal.timing;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.races.HandTimer;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An alarm is set while the timer wakes the clock for another one. Then the clock advances.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Each has rung, once.")
@Outcome(
        id = {"0, .", "., 0"},
        expect = FORBIDDEN,
        desc = "No task of the timer is left to ring the alarm.")
@Outcome(
        id = {"2, .", "., 2"},
        expect = FORBIDDEN,
        desc = "Rung twice.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class AlarmSetAgainstWake {

    private final HandTimer timer = new HandTimer();
    private final AlarmClock clock = new AlarmClock(timer, () -> {});
    private final AtomicInteger early = new AtomicInteger();
    private final AtomicInteger later = new AtomicInteger();
    private final Alarm second = Alarm.of(later::incrementAndGet);

    public AlarmSetAgainstWake() {
        clock.set(Alarm.of(early::incrementAndGet), 10);
    }

    @Actor
    public void wake() {
        timer.moveTo(10);
    }

    @Actor
    public void set() {
        clock.set(second, 20);
    }

    @Arbiter
    public void after(II_Result r) {
        timer.moveTo(20);
        r.r1 = early.get();
        r.r2 = later.get();
    }
}
