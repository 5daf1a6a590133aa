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
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Two threads each set an alarm, for different times. Then the clock advances step by step.
 */
@JCStressTest
@Outcome(
        id = "early in time, late in time",
        expect = ACCEPTABLE,
        desc = "In either order, the timer wakes for the earlier alarm.")
@Outcome(id = "early not in time, .*", expect = FORBIDDEN, desc = "The timer sleeps until the later alarm.")
@Outcome(id = ".*, late not in time", expect = FORBIDDEN, desc = "The clock forgot the later alarm.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class AlarmSetAgainstSet {

    private final HandTimer timer = new HandTimer();
    private final AlarmClock clock = new AlarmClock(timer, () -> {});
    private final AtomicInteger early = new AtomicInteger();
    private final AtomicInteger late = new AtomicInteger();
    private final Alarm earlyOne = Alarm.of(early::incrementAndGet);
    private final Alarm lateOne = Alarm.of(late::incrementAndGet);

    @Actor
    public void setEarly() {
        clock.set(earlyOne, 10);
    }

    @Actor
    public void setLate() {
        clock.set(lateOne, 20);
    }

    @Arbiter
    public void after(LL_Result r) {
        timer.moveTo(10);
        r.r1 = early.get() == 1 ? "early in time" : "early not in time";
        timer.moveTo(20);
        r.r2 = late.get() == 1 && early.get() == 1 ? "late in time" : "late not in time";
    }
}
