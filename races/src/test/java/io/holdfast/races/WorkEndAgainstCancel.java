package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The work under a lock ends while its subscriber leaves.
 */
@JCStressTest
@Outcome(
        id = {"result, free, released", "nothing, free, released"},
        expect = ACCEPTABLE,
        desc = "Released once, in either order.")
@Outcome(
        id = "done, free, released",
        expect = ACCEPTABLE,
        desc = "Released once. The work ended while the subscriber left, and its result is dropped.")
@Outcome(id = ".*, held", expect = FORBIDDEN, desc = "Neither side released.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class WorkEndAgainstCancel {

    private final Bench bench = new Bench();
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    public WorkEndAgainstCancel() {
        bench.lock.withLock(work.mono()).subscribe(told);
        bench.store.grant();
    }

    @Actor
    public void end() {
        work.end();
    }

    @Actor
    public void cancel() {
        told.cancel();
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = told.toString();
        r.r2 = bench.store.standing();
    }
}
