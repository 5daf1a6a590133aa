package io.holdfast.internal.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockBackendException;
import io.holdfast.internal.claim.LockParts;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * The answer to a request comes at the instant of its time limit.
 */
@JCStressTest
@Outcome(id = "answered, 0", expect = ACCEPTABLE, desc = "The answer was in time, and the alarm is off.")
@Outcome(id = "failed, 0", expect = ACCEPTABLE, desc = "Too late.")
@Outcome(id = ".*, 1", expect = FORBIDDEN, desc = "The alarm of the request stays in the clock.")
@Outcome(id = ".* and .*", expect = FORBIDDEN, desc = "Told twice.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class CallAnswerAgainstTimeLimit {

    private final LockParts parts = new LockParts();
    private final Sinks.One<String> answer = Sinks.one();
    private final Queue<String> told = new ConcurrentLinkedQueue<>();

    public CallAnswerAgainstTimeLimit() {
        BackendCall.start(
                parts.engine,
                "a",
                10,
                Context.empty(),
                new BackendCall.Request<String>() {
                    @Override
                    public String what() {
                        return "request";
                    }

                    @Override
                    public Mono<String> ask() {
                        return answer.asMono();
                    }

                    @Override
                    public void answered(String it) {
                        told.add("answered");
                    }

                    @Override
                    public void failed(LockBackendException error, int answered) {
                        told.add("failed");
                    }
                },
                parts.engine.alarms.now());
    }

    @Actor
    public void answer() {
        answer.tryEmitValue("yes");
    }

    @Actor
    public void timeIsUp() {
        parts.timer.moveTo(10);
    }

    @Arbiter
    public void after(LL_Result r) {
        r.r1 = String.join(" and ", told);
        r.r2 = parts.engine.alarms.size();
    }
}
