package io.holdfast.internal.claim;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * The emission alone, without the classes around it: a lease is emitted while the subscriber leaves. One atomic
 * field decides, and the lease is released once, or kept.
 */
@JCStressTest
@Outcome(id = "emitted, kept", expect = ACCEPTABLE, desc = "The lease was emitted first: neither side releases it.")
@Outcome(id = "not emitted, released", expect = ACCEPTABLE, desc = "The subscriber left first.")
@Outcome(id = "emitted, released", expect = ACCEPTABLE, desc = "The subscriber left while onNext ran.")
@Outcome(id = "not emitted, kept", expect = FORBIDDEN, desc = "The lease has no owner, and neither side releases it.")
@Outcome(id = "its end is not decided, .*", expect = FORBIDDEN, desc = "Both sides won, or neither did.")
@Outcome(id = ".*, released by both", expect = FORBIDDEN, desc = "The lease was released twice.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class EmissionAgainstLeave implements CoreSubscriber<GuardedLease>, Emission.Owner {

    private final AtomicInteger releases = new AtomicInteger();
    private final Emission<GuardedLease> emission = new Emission<>(this, new LockParts().engine, this);

    private volatile boolean emitted;
    private volatile boolean ended;

    public EmissionAgainstLeave() {
        emission.request(1);
    }

    private final class Lease extends NoLease {

        @Override
        public Runnable giveBack() {
            return releases::incrementAndGet;
        }
    }

    @Override
    public void begin() {}

    @Override
    public void left() {
        ended = true;
    }

    @Override
    public void onSubscribe(Subscription subscription) {}

    @Override
    public void onNext(GuardedLease lease) {
        emitted = true;
    }

    @Override
    public void onError(Throwable error) {}

    @Override
    public void onComplete() {}

    @Actor
    public void emit() {
        if (emission.begin()) {
            emission.emit(new Lease());
        } else {
            releases.incrementAndGet();
        }
    }

    @Actor
    public void leave() {
        emission.cancel();
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = emitted == ended ? "its end is not decided" : emitted ? "emitted" : "not emitted";
        r.r2 = switch (releases.get()) {
            case 0 -> "kept";
            case 1 -> "released";
            default -> "released by both";
        };
    }
}
