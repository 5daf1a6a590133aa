package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The grant comes while the future that shall have it is cancelled.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Completed before: the lease is the future's.")
@Outcome(id = "cancelled, free, released", expect = ACCEPTABLE, desc = "Cancelled before: the grant is given back.")
@Outcome(id = "cancelled, held", expect = FORBIDDEN, desc = "The future refused the lease, and nobody gives it back.")
@Outcome(
        id = "lease, free, released",
        expect = FORBIDDEN,
        desc = "Who has the future has the lease, and it was taken away.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class GrantAgainstCancelledFuture {

    private final Bench bench = new Bench();
    private final CompletableFuture<LockLease> future = bench.lock.acquire().toFuture();

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void cancel() {
        boolean unused = future.cancel(true);
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = future.isCancelled() ? "cancelled" : future.isDone() ? "lease" : "nothing";
        r.r2 = bench.store.standing();
    }
}
