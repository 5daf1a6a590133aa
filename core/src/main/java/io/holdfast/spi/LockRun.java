package io.holdfast.spi;

import java.util.List;
import java.util.Optional;

/**
 * One grant for consecutive claims of one client, its <i>members</i>. The client passes the lock from member to member,
 * in order, and asks the back end only when the run ends. See {@link LockFeature#RUNS}.
 *
 * @param number the token of the first member; no other run of this lock has it. The back end has reserved a token for
 *     each member: a later owner has a higher token than the last of them
 * @param members the ids of the claims, in order of arrival. A back end makes no run of one member: a lone waiter gets
 *     a plain grant
 */
public record LockRun(long number, List<String> members) {

    /**
     * The answer to {@link LockBackend#endRun}.
     *
     * @param ownership {@link Ownership#HELD} when the run had the lock until it was ended by this request, or by an
     *     earlier one with the same number; else {@link Ownership#NOT_HELD}
     * @param next the run that has the lock now, if it is of the same client
     */
    public record End(Ownership ownership, Optional<LockAttempt.AcquiredRun> next) {}

    /**
     * Checks the components, and copies the list.
     *
     * @param number greater than 0
     * @param members at least one
     * @throws IllegalArgumentException if the number is not positive, or there is no member
     */
    public LockRun {
        members = List.copyOf(members);
        if (number < 1 || members.isEmpty()) {
            throw new IllegalArgumentException("a run has a positive number and a member, not number %d and members %s"
                    .formatted(number, members));
        }
    }

    /**
     * {@return the token of a member}
     *
     * @param index 0 for the first member
     */
    public long token(int index) {
        return number + index;
    }

    /** {@return the token of the last member: the last one that the run has reserved} */
    public long lastToken() {
        return token(members.size() - 1);
    }
}
