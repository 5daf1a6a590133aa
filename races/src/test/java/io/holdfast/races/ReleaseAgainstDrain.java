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
 * The release of the last lease is confirmed while the client is drained. The back end is the real one in memory.
 */
@JCStressTest
@Outcome(id = "done, done", expect = ACCEPTABLE, desc = "The drain ends with the release, or at once after it.")
@Outcome(id = "done, nothing", expect = FORBIDDEN, desc = "The drain misses the end of the last lease.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class ReleaseAgainstDrain {

    private final MemoryBench bench = new MemoryBench();
    private final LockLease lease;
    private final Told<Void> released = new Told<>();
    private final Told<Void> drained = new Told<>();

    public ReleaseAgainstDrain() {
        Holder holder = new Holder();
        bench.lock.acquire().subscribe(holder);
        lease = holder.lease();
    }

    @Actor
    public void release() {
        lease.release().subscribe(released);
    }

    @Actor
    public void drain() {
        bench.client.drain().subscribe(drained);
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = released.toString();
        r.r2 = drained.toString();
    }
}
