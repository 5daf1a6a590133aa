package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LossReason;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * A nested lease and the outermost lease are released at the same instant.
 */
@JCStressTest
@Outcome(id = "done, done, free, released", expect = ACCEPTABLE, desc = "The nested lease was released first.")
@Outcome(
        id = "LockLostException, NOT_HELD, free, released",
        expect = ACCEPTABLE,
        desc = "The outermost lease was released first: the nested one is lost.")
@Outcome(
        id = {"done, NOT_HELD, .*", "LockLostException, done, .*"},
        expect = FORBIDDEN,
        desc = "onLoss() and release() report different ends of one lease.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class NestedReleaseAgainstOutermostRelease {

    private final Bench bench = new Bench();
    private final Outermost outermost = new Outermost(bench);
    private final Holder view = new Holder();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> release = new Told<>();

    public NestedReleaseAgainstOutermostRelease() {
        outermost.nested(bench.lock.acquire()).subscribe(view);
        view.lease().onLoss().subscribe(loss);
    }

    @Actor
    public void outermost() {
        outermost.release();
    }

    @Actor
    public void nested() {
        view.lease().release().subscribe(release);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = release.toString();
        r.r2 = loss.toString();
        r.r3 = bench.store.standing();
    }
}
