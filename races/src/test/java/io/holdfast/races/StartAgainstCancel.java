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
 * The grant starts the work under a lock while its subscriber leaves.
 */
@JCStressTest
@Outcome(
        id = "nothing, free, released, not begun",
        expect = ACCEPTABLE,
        desc = "Cancelled first: the client releases the grant.")
@Outcome(
        id = "nothing, free, released, stopped",
        expect = ACCEPTABLE,
        desc = "The work began first, or meanwhile: it is cancelled, and the lease released.")
@Outcome(id = ".*, running", expect = FORBIDDEN, desc = "The work continues without a subscriber and without a lock.")
@Outcome(id = ".*, held, .*", expect = FORBIDDEN, desc = "The client does not release the lease.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class StartAgainstCancel {

    private final Bench bench = new Bench();
    private final Work work = new Work();
    private final Told<String> told = new Told<>();

    public StartAgainstCancel() {
        bench.lock.withLock(work.mono()).subscribe(told);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void cancel() {
        told.cancel();
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = told.toString();
        r.r2 = bench.store.standing();
        r.r3 = work.standing();
    }
}
