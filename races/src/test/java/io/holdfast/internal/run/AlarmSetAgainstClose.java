package io.holdfast.internal.run;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.internal.run.AlarmClock.Alarm;
import io.holdfast.races.HandTimer;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * One thread sets an alarm while another thread closes the clock. The setting thread checks afterwards whether the
 * clock is closed.
 */
@JCStressTest
@Outcome(id = "rang, closed", expect = ACCEPTABLE, desc = "The alarm was set before the clock was closed.")
@Outcome(
        id = "silent, closed",
        expect = ACCEPTABLE,
        desc = "The alarm was set too late, and the setting thread sees that.")
@Outcome(
        id = "rang, open",
        expect = ACCEPTABLE,
        desc = "The alarm was set, and the check was made, before the clock was closed.")
@Outcome(
        id = "silent, open",
        expect = FORBIDDEN,
        desc = "The alarm never rings, and the setting thread believes that it will.")
@Outcome(id = ".*, left behind", expect = FORBIDDEN, desc = "A closed clock keeps a task of the timer.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class AlarmSetAgainstClose {

    private final HandTimer timer = new HandTimer();
    private final AlarmClock clock = new AlarmClock(timer, () -> {});
    private final AtomicInteger rings = new AtomicInteger();
    private final Alarm awaited = Alarm.atTheLatestAtClose(rings::incrementAndGet);

    @Actor
    public void set(LL_Result r) {
        clock.set(awaited, 10);
        r.r2 = clock.isClosed() ? "closed" : "open";
    }

    @Actor
    public void close() {
        clock.close();
    }

    @Arbiter
    public void after(LL_Result r) {
        if (timer.size() > 0) {
            r.r2 = "left behind";
        }
        timer.moveTo(20);
        r.r1 = switch (rings.get()) {
            case 0 -> "silent";
            case 1 -> "rang";
            default -> "rang twice";
        };
    }
}
