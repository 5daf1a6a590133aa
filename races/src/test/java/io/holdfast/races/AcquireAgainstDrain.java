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
 * An acquisition begins while the client is drained. The back end is the real one in memory.
 */
@JCStressTest
@Outcome(id = "lease, kept, not drained", expect = ACCEPTABLE, desc = "Granted first: the drain waits for the lease.")
@Outcome(
        id = "LockClosedException, free, drained",
        expect = ACCEPTABLE,
        desc = "Drained first: the acquisition fails, or the client releases the grant.")
@Outcome(id = "lease, .*, drained", expect = FORBIDDEN, desc = "The drain ends before the lease.")
@Outcome(id = "LockClosedException, kept, .*", expect = FORBIDDEN, desc = "A claim is left in the back end.")
@Outcome(id = "nothing, .*", expect = FORBIDDEN, desc = "The subscriber waits for ever.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class AcquireAgainstDrain {

    private final MemoryBench bench = new MemoryBench();
    private final Holder holder = new Holder();
    private final Told<Void> drained = new Told<>();

    @Actor
    public void acquire() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void drain() {
        bench.client.drain().subscribe(drained);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = holder.saw();
        r.r2 = bench.store.contents().isEmpty() ? "free" : "kept";
        r.r3 = drained.toString().equals("done") ? "drained" : "not drained";
    }
}
