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
 * The grant arrives while the future of the acquisition is cancelled.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Completed first: the future has the lease.")
@Outcome(
        id = "cancelled, free, released",
        expect = ACCEPTABLE,
        desc = "Cancelled first: the client releases the grant.")
@Outcome(
        id = "cancelled, held",
        expect = FORBIDDEN,
        desc = "The future refused the lease, and the client does not release it.")
@Outcome(
        id = "lease, free, released",
        expect = FORBIDDEN,
        desc = "The future has the lease, but the client has released it.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
