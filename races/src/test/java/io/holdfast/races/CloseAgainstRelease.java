package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import io.holdfast.LossReason;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * The holder releases while the client is closed.
 */
@JCStressTest
@Outcome(id = "done, done, free, released, done", expect = ACCEPTABLE, desc = "Released before.")
@Outcome(
        id = "CLIENT_CLOSED, LockLostException, free, released, done",
        expect = ACCEPTABLE,
        desc = "Closed first: the lease is lost, and the close releases it.")
@Outcome(id = ".*, held, .*", expect = FORBIDDEN, desc = "A closed client holds a lock.")
@Outcome(id = ".*, nothing", expect = FORBIDDEN, desc = "The closing never ends.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class CloseAgainstRelease {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<LossReason> loss = new Told<>();
    private final Told<Void> released = new Told<>();
    private final Told<Void> closed = new Told<>();

    public CloseAgainstRelease() {
        lease.onLoss().subscribe(loss);
    }

    @Actor
    public void release() {
        lease.release().subscribe(released);
    }

    @Actor
    public void close() {
        bench.client.close().subscribe(closed);
    }

    @Arbiter
    public void after(LLLL_Result r) {
        r.r1 = loss.toString();
        r.r2 = released.toString();
        r.r3 = bench.store.standing();
        r.r4 = closed.toString();
    }
}
