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
 * The lock is handed to a waiter that leaves at that instant. Another waiter is behind it. The back end is the real one
 * in memory.
 */
@JCStressTest
@Outcome(id = "lease, nothing", expect = ACCEPTABLE, desc = "Emitted first: the waiter has the lock.")
@Outcome(
        id = "nothing, lease",
        expect = ACCEPTABLE,
        desc = "The first waiter left, or handed the lock back: the second waiter has it, and no time has passed.")
@Outcome(
        id = "lease that is over, lease",
        expect = ACCEPTABLE,
        desc =
                "The first waiter left during the emission: the second waiter has the lock, although the first has seen a lease.")
@Outcome(id = "nothing, nothing", expect = FORBIDDEN, desc = "The lock was handed to a waiter that has left.")
@Outcome(id = "lease, lease", expect = FORBIDDEN, desc = "Two hold it.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
