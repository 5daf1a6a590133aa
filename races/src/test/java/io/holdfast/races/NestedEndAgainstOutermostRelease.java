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
 * Nested work ends at the instant the outermost lease is released.
 */
@JCStressTest
@Outcome(id = "result, running, free, released", expect = ACCEPTABLE, desc = "The work ended under the lock.")
@Outcome(
        id = {"LockLostException, stopped, free, released", "LockLostException, running, free, released"},
        expect = ACCEPTABLE,
        desc = "The lock was released before the work had ended, so its result does not count.")
@Outcome(id = "nothing, .*", expect = FORBIDDEN, desc = "Neither side ended the work.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class NestedEndAgainstOutermostRelease {

    private final Bench bench = new Bench();
    private final Outermost outermost = new Outermost(bench);
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    public NestedEndAgainstOutermostRelease() {
        outermost.nested(bench.lock.withLock(work.mono())).subscribe(told);
    }

    @Actor
    public void outermost() {
        outermost.release();
    }

    @Actor
    public void end() {
        work.end();
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = told.toString();
        r.r2 = work.standing();
        r.r3 = bench.store.standing();
    }
}
