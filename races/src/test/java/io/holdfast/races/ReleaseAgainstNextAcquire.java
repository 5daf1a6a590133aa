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
 * The holder releases while the next one comes. The store is the real one in memory, and no time passes.
 */
@JCStressTest
@Outcome(id = "done, lease", expect = ACCEPTABLE, desc = "It finds the lock free, or is handed it.")
@Outcome(
        id = "done, nothing",
        expect = FORBIDDEN,
        desc = "It came too late to find the lock free and too early to be handed it: it would wait for a whole look.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
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
