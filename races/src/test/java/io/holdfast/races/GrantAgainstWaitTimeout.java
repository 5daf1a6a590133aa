package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockOptions;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The grant arrives at the instant of the waitTimeout.
 */
@JCStressTest
@Outcome(id = "lease, held", expect = ACCEPTABLE, desc = "Granted in time.")
@Outcome(
        id = "LockTimeoutException, free, released",
        expect = ACCEPTABLE,
        desc = "Too late: the client releases the grant.")
@Outcome(id = "LockTimeoutException, held", expect = FORBIDDEN, desc = "Granted to nobody.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class GrantAgainstWaitTimeout {

    private static final LockOptions BRIEF = LockOptions.builder()
            .leaseDuration(Bench.LEASE)
            .waitTimeout(Duration.ofSeconds(1))
            .build();

    private final Bench bench = new Bench();
    private final Holder holder = new Holder();

    public GrantAgainstWaitTimeout() {
        bench.lock.with(BRIEF).acquire().subscribe(holder);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void timeIsUp() {
        bench.timer.moveTo(Duration.ofSeconds(1).toNanos());
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = holder.saw();
        r.r2 = bench.store.standing();
    }
}
