package io.holdfast.internal.timing;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.spi.support.Mailbox;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two threads post four tasks each. Each task counts in a plain field. So the count is wrong if two tasks run at once,
 * or if a task does not see the writes of the task before.
 */
@JCStressTest
@Outcome(
        id = "8, 0",
        expect = ACCEPTABLE,
        desc =
                "All tasks ran one at a time, each saw the task before it, and the tasks of one thread kept their order.")
@Outcome(id = "8, .", expect = FORBIDDEN, desc = "A task ran before an earlier task of its thread.")
@Outcome(id = "[0-7], .", expect = FORBIDDEN, desc = "A task did not run, or two tasks ran at once.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class MailboxHandOver {

    private final Mailbox mailbox = new Mailbox(defect -> {});

    // Plain on purpose: the mailbox must make them safe.
    private int runs;
    private int overtaken;
    private int lastOfOne;
    private int lastOfOther;

    @Actor
    public void one() {
        for (int i = 1; i <= 4; i++) {
            int number = i;
            mailbox.post(() -> {
                overtaken += number == lastOfOne + 1 ? 0 : 1;
                lastOfOne = number;
                runs++;
            });
        }
    }

    @Actor
    public void other() {
        for (int i = 1; i <= 4; i++) {
            int number = i;
            mailbox.post(() -> {
                overtaken += number == lastOfOther + 1 ? 0 : 1;
                lastOfOther = number;
                runs++;
            });
        }
    }

    @Arbiter
    public void after(II_Result r) {
        r.r1 = runs;
        r.r2 = overtaken;
    }
}
