package io.holdfast.internal.engine;

import io.holdfast.ClientReport;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** All that is under way in one client: claims and releases, linked through themselves. Thread-safe. */
public final class Activities {

    public enum Stage {
        ACQUIRING,
        HOLDING,
        RELEASING
    }

    public static class Activity extends Alarm {

        // Written under the monitor of the list; outside of the list, an activity is its own neighbour.
        private Activity previous = this;
        private Activity next = this;

        public Stage stage() {
            return Stage.RELEASING;
        }

        @Override
        public void ring() {}

        /** Ends it because the client closes, which waits for a release. */
        public void close() {}

        /** Ends it because the client drains, unless it holds a lock. */
        public void refuse() {}

        /** Ends it because the client has closed and waits no longer. */
        public void abandon() {}

        public boolean isPartOfWork() {
            return false;
        }

        public ClientReport.@Nullable Hold hold() {
            return null;
        }

        public ClientReport.@Nullable Wait waiting() {
            return null;
        }
    }

    private final Activity end = new Activity();

    /** All before it are in their last stage. */
    private Activity unchecked = end;

    synchronized void add(Activity activity) {
        activity.previous = end.previous;
        activity.next = end;
        end.previous.next = activity;
        end.previous = activity;
        if (unchecked == end) {
            unchecked = activity;
        }
    }

    synchronized boolean remove(Activity activity) {
        boolean isListed = activity.next != activity;
        if (unchecked == activity) {
            unchecked = activity.next;
        }
        activity.next.previous = activity.previous;
        activity.previous.next = activity.next;
        activity.previous = activity;
        activity.next = activity;
        return isListed;
    }

    synchronized boolean isEmpty() {
        return end.next == end;
    }

    synchronized boolean hasOnlyReleases() {
        while (unchecked != end && unchecked.stage() == Stage.RELEASING) {
            unchecked = unchecked.next;
        }
        return unchecked == end;
    }

    List<Activity> all(Stage stage) {
        return ask(activity -> activity.stage() == stage ? activity : null, Integer.MAX_VALUE)
                .oldest();
    }

    record Some<R>(long count, List<R> oldest) {}

    /** Asks each activity; the question must be quick, and null means that it says nothing. */
    synchronized <R> Some<R> ask(Function<Activity, @Nullable R> question, int most) {
        List<R> oldest = new ArrayList<>();
        long count = 0;
        for (Activity at = end.next; at != end; at = at.next) {
            R answer = question.apply(at);
            if (answer != null) {
                count++;
                if (count <= most) {
                    oldest.add(answer);
                }
            }
        }
        return new Some<>(count, oldest);
    }
}
