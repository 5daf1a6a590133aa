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
 * The back end signals a loss while its grant is on its way. The two come by different connections, so the loss may
 * arrive first. The client must not forget it when the grant arrives.
 */
@JCStressTest
@Outcome(
        id = "lease that is over, free, released",
        expect = ACCEPTABLE,
        desc = "The grant came first, and the lease is lost.")
@Outcome(
        id = "lease, asked at once",
        expect = ACCEPTABLE,
        desc = "The loss came first: the lease is emitted, and the client asks the back end whether it is still held.")
@Outcome(
        id = "trying again, free, released",
        expect = ACCEPTABLE,
        desc = "Lost before the emission: the acquisition starts again with a new claim.")
@Outcome(
        id = "lease, held",
        expect = FORBIDDEN,
        desc = "The client does not check the signalled loss before the next renewal.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
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
        r.r1 = bench.store.attempts() > 1 ? "trying again" : holder.saw();
        r.r2 = bench.store.renewals() > 0 ? "asked at once" : bench.store.standing();
    }
}
