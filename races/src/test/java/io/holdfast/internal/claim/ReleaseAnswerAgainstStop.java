package io.holdfast.internal.claim;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.LockBackendException;
import io.holdfast.spi.Ownership;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * The back end answers a withdrawal while the closing client stops waiting for it.
 */
@JCStressTest
@Outcome(id = "released, 0 left", expect = ACCEPTABLE, desc = "Answered before.")
@Outcome(id = "unconfirmed, 0 left", expect = ACCEPTABLE, desc = "Stopped before.")
@Outcome(id = ".* and .*", expect = FORBIDDEN, desc = "Told twice.")
@Outcome(id = ".*, [1-9] left", expect = FORBIDDEN, desc = "The client counts the withdrawal as under way for ever.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class ReleaseAnswerAgainstStop {

    private final LockParts parts = new LockParts();
    private final Queue<String> told = new ConcurrentLinkedQueue<>();

    public ReleaseAnswerAgainstStop() {
        parts.store.holdReleases();
        ReleaseLoop.start(parts.settings, parts.claim, 0, Long.MAX_VALUE / 2, new ReleaseLoop.Result() {
            @Override
            public void released(Ownership ownership, boolean unknownBefore) {
                told.add("released");
            }

            @Override
            public void unconfirmed(LockBackendException lastFailure) {
                told.add("unconfirmed");
            }
        });
    }

    @Actor
    public void answer() {
        parts.store.answerRelease();
    }

    @Actor
    public void stop() {
        parts.engine.abandonRest();
    }

    @Arbiter
    public void after(L_Result r) {
        r.r1 = String.join(" and ", told)
                + (parts.engine.toString().contains(" 0 releasing, 0 alarms") ? ", 0 left" : ", 1 left");
    }
}
