package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockLease;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * Two threads release one lease at the same instant.
 */
@JCStressTest
@Outcome(
        id = "done, done, free, released",
        expect = ACCEPTABLE,
        desc = "The client sends one request, and both callers get its outcome.")
@Outcome(
        id = ".*, released . times",
        expect = FORBIDDEN,
        desc = "The client sends two requests: the second answer reads as a loss.")
@Outcome(
        id = {"nothing, .*", ".*, nothing, .*"},
        expect = FORBIDDEN,
        desc = "One of the callers waits for ever.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class DoubleRelease {

    private final Bench bench = new Bench();
    private final LockLease lease = bench.lease();
    private final Told<Void> first = new Told<>();
    private final Told<Void> second = new Told<>();

    @Actor
    public void one() {
        lease.release().subscribe(first);
    }

    @Actor
    public void other() {
        lease.release().subscribe(second);
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = first.toString();
        r.r2 = second.toString();
        r.r3 = bench.store.standing();
    }
}
