package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * Nested work begins at the instant the outermost lease is released.
 */
@JCStressTest
@Outcome(
        id = {"LockLostException, 1, not begun", "LockLostException, 1, stopped"},
        expect = ACCEPTABLE,
        desc = "The work was nested, and loses its lease with the outermost one.")
@Outcome(id = "nothing, 2, not begun", expect = ACCEPTABLE, desc = "The work came later, and sends its own attempt.")
@Outcome(id = ".*, running", expect = FORBIDDEN, desc = "The work continues without a lock.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class NestedStartAgainstOutermostRelease {

    private final Bench bench = new Bench();
    private final Outermost outermost = new Outermost(bench);
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    @Actor
    public void outermost() {
        outermost.release();
    }

    @Actor
    public void nested() {
        outermost.nested(bench.lock.withLock(work.mono())).subscribe(told);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = told.toString();
        r.r2 = bench.store.attempts();
        r.r3 = work.standing();
    }
}
