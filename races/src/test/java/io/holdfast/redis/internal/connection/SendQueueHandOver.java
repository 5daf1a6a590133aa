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
 * Two threads hand four commands each to the queue. The send uses plain memory access, as a driver does that one
 * thread uses at a time.
 */
@JCStressTest
@Outcome(
        id = "8, 0",
        expect = ACCEPTABLE,
        desc =
                "All commands were sent one at a time, each saw the command before it, and those of one thread kept their order.")
@Outcome(id = "8, .", expect = FORBIDDEN, desc = "A command was sent before an earlier command of its thread.")
@Outcome(id = "[0-7], .", expect = FORBIDDEN, desc = "A command was not sent, or two were sent at once.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class SendQueueHandOver {

    private final SendQueue queue = new SendQueue(drain -> false, () -> {});

    // Plain on purpose: the queue must make them safe.
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
