package io.holdfast.redis.internal.connection;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two threads give four commands each. Each is sent with plain memory access, as the driver would be used by one
 * thread at a time.
 */
@JCStressTest
@Outcome(
        id = "8, 0",
        expect = ACCEPTABLE,
        desc = "All were sent, one at a time, each seeing the one before, and those of one thread in their order.")
@Outcome(id = "8, .", expect = FORBIDDEN, desc = "A command was sent before one that its thread had given earlier.")
@Outcome(id = "[0-7], .", expect = FORBIDDEN, desc = "One was left behind, or two were sent at once.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class SendQueueHandOver {

    private final SendQueue queue = new SendQueue();

    // Plain on purpose: the queue makes them safe.
    private int sent;
    private int overtaken;
    private int lastOfOne;
    private int lastOfOther;

    @Actor
    public void one() {
        for (int i = 1; i <= 4; i++) {
            int number = i;
            queue.send(() -> {
                overtaken += number == lastOfOne + 1 ? 0 : 1;
                lastOfOne = number;
                sent++;
            });
        }
    }

    @Actor
    public void other() {
        for (int i = 1; i <= 4; i++) {
            int number = i;
            queue.send(() -> {
                overtaken += number == lastOfOther + 1 ? 0 : 1;
                lastOfOther = number;
                sent++;
            });
        }
    }

    @Arbiter
    public void after(II_Result r) {
        r.r1 = sent;
        r.r2 = overtaken;
    }
}
