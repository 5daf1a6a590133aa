package io.holdfast.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The list of all that is under way in one client: acquisitions, leases and releases. It is linked through its members,
 * because each lock cycle joins and leaves it three times. Thread-safe: the monitor guards a few memory accesses.
 */
final class Members {

    /** A member of the list. */
    abstract static class Member {

        // Both fields are written under the monitor of the list, and null outside of it.
        private @Nullable Member previous;
        private @Nullable Member next;
    }

    private static final class End extends Member {}

    /** Between the last and the first member. */
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

    /** Returns the present members of one kind, oldest first. */
    synchronized <M extends Member> List<M> all(Class<M> kind) {
        List<M> found = new ArrayList<>();
        for (Member at = linked(end.next); at != end; at = linked(at.next)) {
            if (kind.isInstance(at)) {
                found.add(kind.cast(at));
            }
        }
        return found;
    }

    /** The oldest members of one kind, and how many there are. */
    record Some<M>(long count, List<M> oldest) {}

    /** Returns the oldest members of one kind that match a predicate; it must be quick. */
    synchronized <M extends Member> Some<M> some(Class<M> kind, Predicate<M> which, int most) {
        List<M> oldest = new ArrayList<>();
        long count = 0;
        for (Member at = linked(end.next); at != end; at = linked(at.next)) {
            if (kind.isInstance(at) && which.test(kind.cast(at))) {
                count++;
                if (count <= most) {
                    oldest.add(kind.cast(at));
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
