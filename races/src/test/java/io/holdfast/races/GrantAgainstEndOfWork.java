package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A client drains. The work of its last holder ends while a waiter, which that work has left behind, is granted its lock.
 */
@JCStressTest
@Outcome(
        id = "lease, 1 released, not drained",
        expect = ACCEPTABLE,
        desc = "Emitted first: the drain waits for the lease.")
@Outcome(
        id = "LockClosedException, 2 released, drained",
        expect = ACCEPTABLE,
        desc = "The work ended first: the client releases the grant.")
@Outcome(expect = FORBIDDEN, desc = "A drain that never ends, a lease after the drain, or any other outcome.")
@State
public class GrantAgainstEndOfWork {

    private final Bench bench = new Bench();
    private final Holder waiter = new Holder();
    private final Told<Void> drained = new Told<>();
    private final Sinks.Empty<Void> work = Sinks.empty();

    public GrantAgainstEndOfWork() {
        bench.lock
                .withLock(Mono.deferContextual(context -> {
                    bench.client.lock("b").acquire().contextWrite(context).subscribe(waiter);
                    return work.asMono();
                }))
                .subscribe();
        bench.store.grant();
        bench.client.drain().subscribe(drained);
    }

    @Actor
    public void grant() {
        bench.store.grant();
    }

    @Actor
    public void end() {
        Sinks.EmitResult unused = work.tryEmitEmpty();
    }

    @Arbiter
    public void after(LLL_Result r) {
        r.r1 = waiter.saw();
        r.r2 = bench.store.releases() + " released";
        r.r3 = drained.toString().equals("done") ? "drained" : "not drained";
    }
}
