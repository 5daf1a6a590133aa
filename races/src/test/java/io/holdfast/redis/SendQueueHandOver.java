package io.holdfast.redis;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Three commands are given by two threads. Each is sent with plain memory access, as the driver would be used by one
 * thread at a time.
 */
@JCStressTest
@Outcome(id = "3, 0", expect = ACCEPTABLE, desc = "All were sent, one at a time, and those of one thread in their order.")
@Outcome(id = "3, 1", expect = FORBIDDEN, desc = "The second command of a thread was sent before its first.")
@Outcome(id = "[0-2], .", expect = FORBIDDEN, desc = "One was left behind, or two were sent at once.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or what nobody has thought of.")
@State
public class SendQueueHandOver {

    private final SendQueue queue = new SendQueue();

    // Plain on purpose: the queue makes them safe.
    private int sent;
    private boolean firstSent;
    private int overtaken;

    @Actor
    public void two() {
        queue.send(() -> {
            firstSent = true;
            sent++;
        });
        queue.send(() -> {
            overtaken = firstSent ? 0 : 1;
            sent++;
        });
    }

    @Actor
    public void one() {
        queue.send(() -> sent++);
    }

    @Arbiter
    public void after(II_Result r) {
        r.r1 = sent;
        r.r2 = overtaken;
    }
}
