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

/** One thread sets an alarm while another thread closes the clock: a caller waits for the alarm, and it rings. */
@JCStressTest
@Outcome(
        id = "rang, nothing left",
        expect = ACCEPTABLE,
        desc = "At the close, or at once because the clock was closed.")
@Outcome(id = "silent, .*", expect = FORBIDDEN, desc = "The alarm never rings, and its caller waits for ever.")
@Outcome(id = ".*, left behind", expect = FORBIDDEN, desc = "A closed clock keeps a task of the timer.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class AlarmSetAgainstClose {

    private final HandTimer timer = new HandTimer();
    private final AlarmClock clock = new AlarmClock(timer, () -> {});
    private final AtomicInteger rings = new AtomicInteger();
    private final Alarm awaited = Alarm.atTheLatestAtClose(rings::incrementAndGet);

    @Actor
    public void set() {
        clock.set(awaited, 10);
    }

    @Actor
    public void close() {
        clock.close();
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r2 = timer.size() > 0 ? "left behind" : "nothing left";
        timer.moveTo(20);
        r.r1 = switch (rings.get()) {
            case 0 -> "silent";
            case 1 -> "rang";
            default -> "rang twice";
        };
    }
}
