package io.holdfast.testkit.history;

import io.holdfast.LockKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks that fencing tokens of one lock are unique, and rise in the order of the grants, as far as that order is
 * certain:
 *
 * <ul>
 * <li>if an owner got its lease before another acquisition was requested, it was granted earlier; this holds for
 *     readers and permits too;
 * <li>of two owners that exclude each other, the one that got its lease first was granted first. (If the belief check
 *     fails, this may be wrong too.)
 * </ul>
 *
 * <p>An operation that continues a lease has its token, and begins when the belief in that lease has ended.
 *
 * <p>If two readers, or two owners of permits, were granted while both waited, they do not know the order of their
 * grants.
 */
public final class TokenCheck implements HistoryCheck {

    private final boolean isExclusive;
    private final boolean readersShare;

    /** Makes a check for locks whose owners exclude each other. */
    public TokenCheck() {
        this(true, false);
    }

    private TokenCheck(boolean isExclusive, boolean readersShare) {
        this.isExclusive = isExclusive;
        this.readersShare = readersShare;
    }

    /**
     * Returns a check for histories in which owners may overlap, because an assumption was broken, but tokens must rise
     * all the same. It compares two owners only if one was requested after the other had its lease.
     *
     * @return a weaker check
     */
    public static TokenCheck withoutExclusion() {
        return new TokenCheck(false, false);
    }

    /**
     * Returns a check for Redlock, where readers that wait at the same time may have one token. One reader may get the
     * token by a write-back, while a master gives it to the other.
     *
     * @return a check that is weaker in that respect
     */
    public TokenCheck whereReadersMayShare() {
        return new TokenCheck(isExclusive, true);
    }

    @Override
    public List<Violation> violations(History history) {
        List<LockOperation> owners = new ArrayList<>(history.operations());
        owners.removeIf(owner -> !owner.hasAcquired());
        List<Violation> found = new ArrayList<>();
        Map<String, Tokens> locks = new HashMap<>();
        owners.sort(Comparator.comparingLong(LockOperation::acquiredAt));
        for (LockOperation owner : owners) {
            locks.computeIfAbsent(owner.lockId(), id -> new Tokens(this, mostPermits(owners, id)))
                    .emitted(owner, found);
        }
        locks.values().forEach(tokens -> tokens.compareWithAsked(found));
        return found;
    }

    /** Returns the largest number of permits of all owners of a lock. */
    private static int mostPermits(List<LockOperation> owners, String lockId) {
        return owners.stream()
                .filter(owner -> owner.lockId().equals(lockId))
                .mapToInt(owner -> owner.lock().permits())
                .max()
                .orElse(1);
    }

    /** The owners of one lock. */
    private static final class Tokens {

        private final TokenCheck rules;
        private final List<LockOperation> byEmission = new ArrayList<>();
        private final Map<Long, LockOperation> byToken = new HashMap<>();
        private @Nullable LockOperation highest;
        private @Nullable LockOperation highestExclusive;

        /** An owner that takes this many permits of a semaphore excludes all others. */
        private final int mostPermits;

        Tokens(TokenCheck rules, int mostPermits) {
            this.rules = rules;
            this.mostPermits = mostPermits;
        }

        private boolean isAlone(LockOperation owner) {
            return owner.isExclusive() || (owner.lock().kind() == LockKind.SEMAPHORE && owner.permits() >= mostPermits);
        }

        void emitted(LockOperation owner, List<Violation> found) {
            LockOperation same = byToken.put(owner.token(), owner);
            if (same != null && !follows(same, owner) && !(rules.readersShare && areReadersAtOneTime(same, owner))) {
                found.add(new Violation(
                        "token", "two owners have the same token:%n%s".formatted(Quote.of(List.of(same, owner)))));
            }
            if (owner.isSuccessor() && owner.goesOnWith() != owner.token()) {
                found.add(new Violation(
                        "token", "an operation that continues a lease has another token:%n  %s".formatted(owner)));
            }
            LockOperation before = isAlone(owner) ? highest : highestExclusive;
            if (rules.isExclusive
                    && before != null
                    && before.token() > owner.token()
                    && before.acquiredAt() < owner.acquiredAt()) {
                found.add(falling(before, owner));
            }
            byEmission.add(owner);
            highest = higher(highest, owner);
            highestExclusive = isAlone(owner) ? higher(highestExclusive, owner) : highestExclusive;
        }

        private static boolean follows(LockOperation before, LockOperation owner) {
            return owner.isSuccessor() && before.believedUntil() <= owner.acquiredAt();
        }

        private static boolean areReadersAtOneTime(LockOperation first, LockOperation other) {
            boolean areReaders =
                    first.lock().kind() == LockKind.READ && other.lock().kind() == LockKind.READ;
            return areReaders && other.askedAt() <= first.acquiredAt();
        }

        private static LockOperation higher(@Nullable LockOperation one, LockOperation other) {
            return one == null || one.token() < other.token() ? other : one;
        }

        void compareWithAsked(List<Violation> found) {
            List<LockOperation> byAsking = new ArrayList<>(byEmission);
            byAsking.sort(Comparator.comparingLong(LockOperation::askedAt));
            LockOperation before = null;
            int next = 0;
            for (LockOperation owner : byAsking) {
                while (next < byEmission.size() && byEmission.get(next).acquiredAt() < owner.askedAt()) {
                    before = higher(before, byEmission.get(next++));
                }
                // Pairs with an exclusive owner were compared when they were emitted.
                if (before != null
                        && !owner.isSuccessor()
                        && before.token() > owner.token()
                        && !(rules.isExclusive && (isAlone(before) || isAlone(owner)))) {
                    found.add(falling(before, owner));
                }
            }
        }

        private static Violation falling(LockOperation before, LockOperation owner) {
            return new Violation("token", "a later owner has a lower token:%n  %s%n  %s".formatted(before, owner));
        }
    }
}
