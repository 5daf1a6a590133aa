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
 * The grant arrives while the client is closed.
 */
@JCStressTest
@Outcome(
        id = "lease that is over, free, released, closed",
        expect = ACCEPTABLE,
        desc = "Emitted first, and ended by the close.")
@Outcome(
        id = "LockClosedException, free, released, closed",
        expect = ACCEPTABLE,
        desc = "Closed first: the client releases the grant.")
@Outcome(id = ".*, held, .*", expect = FORBIDDEN, desc = "A closed client holds a lock.")
@Outcome(id = "lease, .*", expect = FORBIDDEN, desc = "A lease of a closed client counts as valid.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class GrantAgainstClose {

    private final Bench bench = new Bench();
    private final Holder holder = new Holder();
    private final Told<Void> closed = new Told<>();

    public GrantAgainstClose() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void close() {
        bench.client.close().subscribe(closed);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = holder.saw();
        r.r2 = bench.store.standing();
        r.r3 = closed.toString().equals("done") && bench.isIdle() ? "closed" : "not closed";
    }
}
