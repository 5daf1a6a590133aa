package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * A renewal fails while the back end signals a change to the same lease. Each sets the time of the next renewal, and the newer state counts.
 */
@JCStressTest
@Outcome(id = "asked again in time", expect = ACCEPTABLE, desc = "The retry comes.")
@Outcome(
        id = "not asked again",
        expect = FORBIDDEN,
        desc = "The alarm belongs to an older state: the lease will expire.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class SignalAgainstFailedRenewal {

    private static final Duration RENEWAL = Bench.LEASE.dividedBy(3);

    /** A retry comes within a second. */
    private static final Duration RETRY = RENEWAL.plusMillis(1_100);

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();

    public SignalAgainstFailedRenewal() {
        bench.timer.moveTo(RENEWAL.toNanos());
    }

    @Actor
    public void failure() {
        bench.store.failRenewal();
    }

    @Actor
    public void signal() {
        bench.store.signal(new WatchSignal.Changed());
    }

    @Arbiter
    public void after(L_Result r) {
        bench.timer.moveTo(RETRY.toNanos());
        r.r1 = !lease.isValid() ? "over" : bench.store.renewals() > 1 ? "asked again in time" : "not asked again";
    }
}
