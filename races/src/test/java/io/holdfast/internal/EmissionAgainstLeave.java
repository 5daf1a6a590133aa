package io.holdfast.internal;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.races.Holder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The emission alone, without the classes around it: a lease is emitted while the subscriber leaves. One atomic
 * field decides, and exactly one side must release the lease.
 */
@JCStressTest
@Outcome(id = "emitted, kept", expect = ACCEPTABLE, desc = "The lease was emitted first: neither side releases it.")
@Outcome(id = "not emitted, released by the emitter", expect = ACCEPTABLE, desc = "The subscriber left first.")
@Outcome(id = "emitted, released by the emitter", expect = ACCEPTABLE, desc = "The subscriber left while onNext ran.")
@Outcome(id = "not emitted, kept", expect = FORBIDDEN, desc = "The lease has no owner, and neither side releases it.")
@Outcome(id = "its end is not decided, .*", expect = FORBIDDEN, desc = "Both sides won, or neither did.")
@Outcome(id = ".*, released by both", expect = FORBIDDEN, desc = "The lease was released twice.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class EmissionAgainstLeave {

    private final LockParts parts = new LockParts();
    private final LeaseHandle lease = parts.lease();
    private final Holder holder = new Holder();
    private final Emission<LeaseHandle> emission = new Emission<>(holder, null);

    private volatile boolean givenBack;
    private volatile boolean ended;

    public EmissionAgainstLeave() {
        boolean unused = emission.open();
    }

    @Actor
    public void emit() {
        givenBack = !emission.begin() || !emission.emit(lease);
    }

    @Actor
    public void leave() {
        emission.leave(() -> ended = true);
    }

    @Arbiter
    public void after(LL_Result r) {
        boolean byTheOther = !lease.held().isHeld();
        boolean emitted = !holder.saw().equals("nothing");
        r.r1 = emitted == ended ? "its end is not decided" : emitted ? "emitted" : "not emitted";
        r.r2 = givenBack
                ? byTheOther ? "released by both" : "released by the emitter"
                : byTheOther ? "released by the subscriber that left" : "kept";
    }
}
