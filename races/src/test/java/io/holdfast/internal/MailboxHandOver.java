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
 * Three tasks are posted by two threads. Each counts in a plain field, so two at a time, or one that does not see the
 * last, would show.
 */
@JCStressTest
@Outcome(id = "3, 0", expect = ACCEPTABLE, desc = "All have run, one at a time, each seeing the one before, and those of one thread in their order.")
@Outcome(id = "3, 1", expect = FORBIDDEN, desc = "The second task of a thread ran before its first.")
@Outcome(id = "[0-2], .", expect = FORBIDDEN, desc = "One was left behind, or two ran at once.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or what nobody has thought of.")
@State
public class MailboxHandOver {

    private final Mailbox mailbox = new Mailbox();

    // Plain on purpose: the mailbox makes them safe.
    private int runs;
    private boolean firstRan;
    private int overtaken;

    @Actor
    public void two() {
        mailbox.post(() -> {
            firstRan = true;
            runs++;
        });
        mailbox.post(() -> {
            overtaken = firstRan ? 0 : 1;
            runs++;
        });
    }

    @Actor
    public void one() {
        mailbox.post(() -> runs++);
    }

    @Arbiter
    public void after(II_Result r) {
        r.r1 = runs;
        r.r2 = overtaken;
    }
}
