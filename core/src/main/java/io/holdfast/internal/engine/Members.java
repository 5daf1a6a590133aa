package io.holdfast.internal.engine;

import io.holdfast.ClientReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The list of all that is under way in one client: acquisitions, leases and releases. It is linked through its members,
 * because each lock cycle joins and leaves it three times. Thread-safe: the monitor guards a few memory accesses.
 */
public final class Members {

    public enum Stage {
        ACQUIRING,
        HOLDING,
        RELEASING
    }

    public abstract static class Member {

        // Both fields are written under the monitor of the list, and null outside of it.
        private @Nullable Member previous;
        private @Nullable Member next;

        public abstract Stage stage();

        /** Ends it because the client closes. */
        public abstract void close();

        /** Ends it because the client drains, unless it holds a lock. */
        public void refuse() {}

        /** Ends it because the client has closed and waits no longer. */
        public void abandon() {}

        /** Returns whether an acquisition is a part of the work under a lease of this client. */
        public boolean isPartOfWork() {
            return false;
        }

        /** Returns null unless it is a valid lease. */
        public ClientReport.@Nullable Hold hold() {
            return null;
        }

        /** Returns null unless it is an acquisition. */
        public ClientReport.@Nullable Wait waiting() {
            return null;
        }
    }

    private static final class End extends Member {

        @Override
        public Stage stage() {
            return Stage.RELEASING;
        }

        @Override
        public void close() {}
    }

    private final Member end = new End();

    Members() {
        end.previous = end;
        end.next = end;
    }

    synchronized void add(Member member) {
        Member last = linked(end.previous);
        member.previous = last;
        member.next = end;
        last.next = member;
        end.previous = member;
    }

    /** Returns false when the member is not in the list. */
    synchronized boolean remove(Member member) {
        if (member.previous == null) {
            return false;
        }
        Member before = linked(member.previous);
        Member after = linked(member.next);
        before.next = after;
        after.previous = before;
        member.previous = null;
        member.next = null;
        return true;
    }

    synchronized boolean isEmpty() {
        return end.next == end;
    }

    /** Returns whether one member matches a predicate; it must be quick. */
    synchronized boolean any(Predicate<Member> which) {
        for (Member at = linked(end.next); at != end; at = linked(at.next)) {
            if (which.test(at)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the present members of one stage, oldest first. */
    synchronized List<Member> all(Stage stage) {
        return ask(member -> member.stage() == stage ? member : null, Integer.MAX_VALUE)
                .oldest();
    }

    /** What the oldest members say, and how many say something. */
    record Some<R>(long count, List<R> oldest) {}

    /** Asks each member; the question must be quick, and null means that it says nothing. */
    synchronized <R> Some<R> ask(Function<Member, @Nullable R> question, int most) {
        List<R> oldest = new ArrayList<>();
        long count = 0;
        for (Member at = linked(end.next); at != end; at = linked(at.next)) {
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

    private static Member linked(@Nullable Member neighbour) {
        if (neighbour == null) {
            throw new IllegalStateException("a member has only one neighbour");
        }
        return neighbour;
    }
}
