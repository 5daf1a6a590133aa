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
 * The grant arrives while the client is drained.
 */
@JCStressTest
@Outcome(id = "lease, held, not drained", expect = ACCEPTABLE, desc = "Emitted first: the drain waits for the lease.")
@Outcome(
        id = "LockClosedException, free, released, drained",
        expect = ACCEPTABLE,
        desc = "Drained first: the client releases the grant.")
@Outcome(id = "lease, .*, drained", expect = FORBIDDEN, desc = "The drain ends before the lease.")
@Outcome(
        id = "LockClosedException, held, .*",
        expect = FORBIDDEN,
        desc = "The lock is held, and no caller has the lease.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class GrantAgainstDrain {

    private final Bench bench = new Bench();
    private final Holder holder = new Holder();
    private final Told<Void> drained = new Told<>();

    public GrantAgainstDrain() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void drain() {
        bench.client.drain().subscribe(drained);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = holder.saw();
        r.r2 = bench.store.standing();
        r.r3 = drained.toString().equals("done") ? "drained" : "not drained";
    }
}
