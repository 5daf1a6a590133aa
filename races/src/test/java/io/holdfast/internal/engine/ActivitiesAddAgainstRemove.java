package io.holdfast.internal.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.holdfast.internal.engine.Activities.Activity;
import io.holdfast.internal.engine.Activities.Stage;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZL_Result;

/**
 * A activity joins the list while the activity before it leaves.
 */
@JCStressTest
@Outcome(id = "true, new", expect = ACCEPTABLE, desc = "One activity has left, and the other is in the list.")
@Outcome(id = "false, .*", expect = FORBIDDEN, desc = "Closing would wait for ever for the activity that left.")
@Outcome(id = "true, none", expect = FORBIDDEN, desc = "Closing would forget the activity that joined.")
@Outcome(expect = FORBIDDEN, desc = "Two signals, two releases, or any other outcome.")
@State
public class ActivitiesAddAgainstRemove {

    private static final class One extends Activity {

        @Override
        public Stage stage() {
            return Stage.HOLDING;
        }

        @Override
        public void close() {}
    }

    private final Activities activities = new Activities();
    private final Activity old = new One();
    private final Activity fresh = new One();
    private boolean hasLeft;

    public ActivitiesAddAgainstRemove() {
        activities.add(old);
    }

    @Actor
    public void remove() {
        hasLeft = activities.remove(old);
    }

    @Actor
    public void add() {
        activities.add(fresh);
    }

    @Arbiter
    public void after(ZL_Result r) {
        List<Activity> all = activities.all(Stage.HOLDING);
        r.r1 = hasLeft && !all.contains(old) && !activities.remove(old);
        r.r2 = all.equals(List.of(fresh)) && activities.remove(fresh) && activities.isEmpty() ? "new" : "none";
    }
}
