package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The store tells of a loss while its grant is on its way: the two come by different connections, so the loss may
 * come first. It must
 * not be forgotten over the grant.
 */
@JCStressTest
@Outcome(id = "lease that is over, free, released", expect = ACCEPTABLE, desc = "The lease was there to lose.")
@Outcome(
        id = "lease, asked at once",
        expect = ACCEPTABLE,
        desc = "The loss came first: the lease is emitted, and the store is asked whether it is still held.")
@Outcome(
        id = "looking again, free, released",
        expect = ACCEPTABLE,
        desc = "Lost before it could be emitted: the acquisition begins anew with another claim.")
@Outcome(
        id = "lease, held",
        expect = FORBIDDEN,
        desc = "A loss that was told is not looked into before the next renewal.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
@State
public class LossAgainstGrant {

    private final Bench bench = new Bench();
    private final Holder holder = new Holder();

    public LossAgainstGrant() {
        bench.lock.acquire().subscribe(holder);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void loss() {
        bench.store.signal(new WatchSignal.Lost(LossReason.DISCONNECTED));
    }

    @Arbiter
    public void after(LL_Result r) {
        bench.timer.moveTo(0);
        r.r1 = bench.store.looks() > 1 ? "looking again" : holder.saw();
        r.r2 = bench.store.renewals() > 0 ? "asked at once" : bench.store.standing();
    }
}
