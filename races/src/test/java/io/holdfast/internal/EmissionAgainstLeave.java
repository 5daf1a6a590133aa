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
 * The emission itself, without what is around it: a lease is handed over while the subscriber leaves. The one atomic
 * field decides, and exactly one side has to give the lease back.
 */
@JCStressTest
@Outcome(id = "emitted, kept", expect = ACCEPTABLE, desc = "Emitted before: nobody gives it back.")
@Outcome(id = "not emitted, given back by the emitter", expect = ACCEPTABLE, desc = "Left before.")
@Outcome(id = "emitted, given back by the emitter", expect = ACCEPTABLE, desc = "Left while onNext ran.")
@Outcome(id = "not emitted, kept", expect = FORBIDDEN, desc = "Nobody has it and nobody gives it back.")
@Outcome(id = "its end is not decided, .*", expect = FORBIDDEN, desc = "Both have won, or neither.")
@Outcome(id = ".*, given back by both", expect = FORBIDDEN, desc = "Given back twice.")
@Outcome(expect = FORBIDDEN, desc = "Told twice, given back twice, or any other outcome.")
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
                ? byTheOther ? "given back by both" : "given back by the emitter"
                : byTheOther ? "given back by the one who left" : "kept";
    }
}
