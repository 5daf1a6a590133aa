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
 * An acquisition begins while the client is closed. The back end is the real one in memory.
 */
@JCStressTest
@Outcome(id = "lease that is over, free, closed", expect = ACCEPTABLE, desc = "Granted first, and ended by the close.")
@Outcome(
        id = "LockClosedException, free, closed",
        expect = ACCEPTABLE,
        desc = "Closed first: the acquisition fails, or the client releases the grant.")
@Outcome(id = ".*, kept, .*", expect = FORBIDDEN, desc = "A closed client has left a claim in the back end.")
@Outcome(id = "nothing, .*", expect = FORBIDDEN, desc = "The subscriber waits for ever.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class CloseAgainstAcquire {

    private final MemoryBench bench = new MemoryBench();
    private final Holder holder = new Holder();
    private final Told<Void> closed = new Told<>();

    @Actor
    public void acquire() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void close() {
        bench.client.close().subscribe(closed);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = holder.saw();
        r.r2 = bench.store.contents().isEmpty() ? "free" : "kept";
        r.r3 = closed.toString().equals("done") ? "closed" : "not closed";
    }
}
