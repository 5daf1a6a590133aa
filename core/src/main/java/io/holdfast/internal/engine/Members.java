package io.holdfast.internal.engine;

import io.holdfast.ClientReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The list of all that is under way in one client: claims and releases. It is linked through its members, because each
 * lock cycle joins and leaves it twice. Thread-safe: the monitor guards a few memory accesses.
 */
public final class Members {

    public enum Stage {
        ACQUIRING,
        HOLDING,
        RELEASING
    }

    public static class Member {

        // Written under the monitor of the list; outside of the list, a member is its own neighbour.
        private Member previous = this;
        private Member next = this;

        public Stage stage() {
            return Stage.RELEASING;
        }

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

    private final Member end = new Member();

    synchronized void add(Member member) {
        member.previous = end.previous;
        member.next = end;
        end.previous.next = member;
        end.previous = member;
    }

    synchronized boolean remove(Member member) {
        boolean isListed = member.next != member;
        member.next.previous = member.previous;
        member.previous.next = member.next;
        member.previous = member;
        member.next = member;
        return isListed;
    }

    synchronized boolean isEmpty() {
        return end.next == end;
    }

    synchronized boolean hasOnlyReleases() {
        Member at = end.next;
        while (at != end && at.stage() == Stage.RELEASING) {
            at = at.next;
        }
        return at == end;
    }

    List<Member> all(Stage stage) {
        return ask(member -> member.stage() == stage ? member : null, Integer.MAX_VALUE)
                .oldest();
    }

    record Some<R>(long count, List<R> oldest) {}

    /** Asks each member; the question must be quick, and null means that it says nothing. */
    synchronized <R> Some<R> ask(Function<Member, @Nullable R> question, int most) {
        List<R> oldest = new ArrayList<>();
        long count = 0;
        for (Member at = end.next; at != end; at = at.next) {
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
