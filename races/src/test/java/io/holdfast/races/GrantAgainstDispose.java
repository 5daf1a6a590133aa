package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import reactor.core.Disposable;

/**
 * The grant comes while the subscriber is disposed of: it marks itself first and cancels then, and drops in silence
 * what comes in
 * between. Two looks at that mark keep the lease from being lost there.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Emitted before: the lease is the subscriber's.")
@Outcome(
        id = "nothing, free, released",
        expect = ACCEPTABLE,
        desc = "Disposed of before or meanwhile: the grant is given back.")
@Outcome(
        id = "lease, free, released",
        expect = ACCEPTABLE,
        desc = "Disposed of while it ran: given back, although it has seen the lease.")
@Outcome(id = "nothing, held", expect = FORBIDDEN, desc = "Dropped unseen, and nobody gives it back.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class GrantAgainstDispose {

    private final Bench bench = new Bench();
    private final Disposable subscription;
    private volatile String seen = "nothing";

    public GrantAgainstDispose() {
        subscription = bench.lock.acquire().subscribe(lease -> seen = "lease");
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void dispose() {
        subscription.dispose();
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = seen;
        r.r2 = bench.store.standing();
    }
}
