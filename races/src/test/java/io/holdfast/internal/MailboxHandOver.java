package io.holdfast.internal;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two threads post four tasks each. Each task counts in a plain field, so two at a time, or one that does not see the
 * last, would show.
 */
@JCStressTest
@Outcome(
        id = "8, 0",
        expect = ACCEPTABLE,
        desc = "All have run, one at a time, each seeing the one before, and those of one thread in their order.")
@Outcome(id = "8, .", expect = FORBIDDEN, desc = "A task ran before one that its thread had posted earlier.")
@Outcome(id = "[0-7], .", expect = FORBIDDEN, desc = "One was left behind, or two ran at once.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class MailboxHandOver {

    private final Mailbox mailbox = new Mailbox();

    // Plain on purpose: the mailbox makes them safe.
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
