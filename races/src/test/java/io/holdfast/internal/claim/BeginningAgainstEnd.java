package io.holdfast.internal.claim;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.internal.engine.Events;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * One thread reports the start of a lease while another reports its loss. Listeners count leases up and down by these
 * two events.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The end is reported once, after the start.")
@Outcome(id = "0, .", expect = FORBIDDEN, desc = "The end is never reported: a listener counts this lease for ever.")
@Outcome(id = "2, .", expect = FORBIDDEN, desc = "The end is reported twice.")
@Outcome(id = "., 1", expect = FORBIDDEN, desc = "The end is reported before the start.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class BeginningAgainstEnd {

    private static final LockEvent END =
            new LockEvent.LeaseAbandoned(new LockEvent.Subject("a", LockKind.MUTEX, 1, "00ff"), 7, Duration.ZERO);

    private final AtomicInteger ends = new AtomicInteger();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicBoolean tooEarly = new AtomicBoolean();
    private final Events events = new Events(event -> {
        if (!begun.get()) {
            tooEarly.set(true);
        }
        ends.incrementAndGet();
    });
    private final PairedEvents paired = new PairedEvents(events);

    @Actor
    public void begin() {
        begun.set(true);
        paired.begun();
    }

    @Actor
    public void end() {
        paired.ended(END);
    }

    @Arbiter
    public void after(II_Result r) {
        r.r1 = ends.get();
        r.r2 = tooEarly.get() ? 1 : 0;
    }
}
