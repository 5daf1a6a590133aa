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
 * The grant arrives while the subscriber is disposed. The subscriber first marks itself as disposed and then cancels. In
 * between, it drops each signal in silence. The client checks the mark twice, so that no lease is lost there.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Emitted first: the subscriber owns the lease.")
@Outcome(
        id = "nothing, free, released",
        expect = ACCEPTABLE,
        desc = "Disposed first or meanwhile: the client releases the grant.")
@Outcome(
        id = "lease, free, released",
        expect = ACCEPTABLE,
        desc = "Disposed during the emission: the client releases the lease, although the subscriber has seen it.")
@Outcome(
        id = "nothing, held",
        expect = FORBIDDEN,
        desc = "The subscriber dropped the lease unseen, and the client does not release it.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
