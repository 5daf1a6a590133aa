package io.holdfast.races;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LI_Result;

/**
 * The work under a lock emits its result, which may own a buffer, while the subscriber leaves.
 */
@JCStressTest
@Outcome(id = "result, 0", expect = ACCEPTABLE, desc = "The subscriber has it.")
@Outcome(id = "(nothing|done), 1", expect = ACCEPTABLE, desc = "It is discarded once.")
@Outcome(id = "(nothing|done), 0", expect = FORBIDDEN, desc = "Its buffer leaks.")
@Outcome(id = "result, 1", expect = FORBIDDEN, desc = "The subscriber has a buffer that was already released.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class ResultAgainstCancel {

    private final Bench bench = new Bench();
    private final Emitter work = new Emitter();
    private final Told<String> told = new Told<>();
    private final AtomicInteger discarded = new AtomicInteger();

    public ResultAgainstCancel() {
        bench.lock
                .withLock(work)
                .doOnDiscard(String.class, result -> discarded.incrementAndGet())
                .subscribe(told);
        bench.store.grant();
    }

    @Actor
    public void emit() {
        work.emit();
    }

    @Actor
    public void cancel() {
        told.cancel();
    }

    @Arbiter
    public void after(LI_Result r) {
        r.r1 = told.toString();
        r.r2 = discarded.get();
    }
}
