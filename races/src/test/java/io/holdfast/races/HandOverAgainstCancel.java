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
 * The lock is handed to a waiter that leaves at that instant, with another one behind. The store is the real one in
 * memory.
 */
@JCStressTest
@Outcome(id = "lease, nothing", expect = ACCEPTABLE, desc = "Emitted before: the lock is the waiter's.")
@Outcome(
        id = "nothing, lease",
        expect = ACCEPTABLE,
        desc = "Left before, or handed back: the one behind has it, and no time has passed.")
@Outcome(
        id = "lease that is over, lease",
        expect = ACCEPTABLE,
        desc = "Left while it was emitted: handed on, although the waiter has seen it.")
@Outcome(id = "nothing, nothing", expect = FORBIDDEN, desc = "Handed to one who is gone.")
@Outcome(id = "lease, lease", expect = FORBIDDEN, desc = "Two hold it.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class HandOverAgainstCancel {

    private final MemoryBench bench = new MemoryBench();
    private final LockLease lease = bench.lease();
    private final Holder waiter = new Holder();
    private final Holder behind = new Holder();

    public HandOverAgainstCancel() {
        bench.lock.acquire().subscribe(waiter);
        bench.lock.acquire().subscribe(behind);
    }

    @Actor
    public void release() {
        lease.release().subscribe();
    }

    @Actor
    public void cancel() {
        waiter.cancel();
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = waiter.saw();
        r.r2 = behind.saw();
    }
}
