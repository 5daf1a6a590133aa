package io.holdfast.internal.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.internal.engine.Members.Member;
import io.holdfast.internal.engine.Members.Stage;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZL_Result;

/**
 * A member joins the list while the member before it leaves.
 */
@JCStressTest
@Outcome(id = "true, new", expect = ACCEPTABLE, desc = "One member has left, and the other is in the list.")
@Outcome(id = "false, .*", expect = FORBIDDEN, desc = "Closing would wait for ever for the member that left.")
@Outcome(id = "true, none", expect = FORBIDDEN, desc = "Closing would forget the member that joined.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class MembersAddAgainstRemove {

    private static final class One extends Member {

        @Override
        public Stage stage() {
            return Stage.HOLDING;
        }

        @Override
        public void close() {}
    }

    private final Members members = new Members();
    private final Member old = new One();
    private final Member fresh = new One();
    private boolean hasLeft;

    public MembersAddAgainstRemove() {
        members.add(old);
    }

    @Actor
    public void remove() {
        hasLeft = members.remove(old);
    }

    @Actor
    public void add() {
        members.add(fresh);
    }

    @Arbiter
    public void after(ZL_Result r) {
        List<Member> all = members.all(Stage.HOLDING);
        r.r1 = hasLeft && !all.contains(old) && !members.remove(old);
        r.r2 = all.equals(List.of(fresh)) && members.remove(fresh) && members.isEmpty() ? "new" : "none";
    }
}
