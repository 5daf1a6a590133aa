package io.holdfast.internal.claim;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.spi.WatchSignal;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import reactor.core.publisher.Sinks;

/**
 * The watch of a claim comes into force while the acquisition asks, for its first attempt, whether it is in force.
 */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The watch was in force before the attempt.")
@Outcome(
        id = "false, true",
        expect = ACCEPTABLE,
        desc = "The watch came into force later: the acquisition is signalled, and sends another attempt.")
@Outcome(
        id = "false, false",
        expect = FORBIDDEN,
        desc = "The acquisition ignores all later signals: the claim polls for ever.")
@Outcome(
        id = "true, true",
        expect = ACCEPTABLE,
        desc = "The acquisition saw the watch and was signalled: at worst, it sends one attempt too many.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class WatchArmedAgainstFirstAttempt {

    private final Sinks.Many<WatchSignal> signals = Sinks.many().unicast().onBackpressureBuffer();
    private final LockParts parts = new LockParts();
    private final AtomicBoolean told = new AtomicBoolean();
    private final ClaimWatch watch =
            ClaimWatch.start(parts.watchedBy(signals.asFlux()), parts.claim, new ClaimWatch.Target() {
                @Override
                public void signalled(WatchSignal signal) {
                    told.set(true);
                }

                @Override
                public void signalsStopped() {}
            });

    @Actor
    public void armed() {
        signals.tryEmitNext(new WatchSignal.Armed());
    }

    @Actor
    public void attempt(ZZ_Result r) {
        r.r1 = watch.isArmed();
    }

    @Arbiter
    public void after(ZZ_Result r) {
        r.r2 = told.get();
    }
}
