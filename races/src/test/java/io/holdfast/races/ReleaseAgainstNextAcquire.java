package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The holder releases while the next claim arrives. The back end is the real one in memory, and no time passes.
 */
@JCStressTest
@Outcome(
        id = "done, lease",
        expect = ACCEPTABLE,
        desc = "The next claim finds the lock free, or gets it by a hand-off.")
@Outcome(
        id = "done, nothing",
        expect = FORBIDDEN,
        desc = "The next claim got neither the free lock nor a hand-off: it would wait until its next attempt.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class ReleaseAgainstNextAcquire {

    private final MemoryBench bench = new MemoryBench();
    private final LockLease lease = bench.lease();
    private final Told<Void> released = new Told<>();
    private final Holder next = new Holder();

    @Actor
    public void release() {
        lease.release().subscribe(released);
    }

    @Actor
    public void acquire() {
        bench.lock.acquire().subscribe(next);
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = released.toString();
        r.r2 = next.saw();
    }
}
