package io.holdfast.testkit.history;

import io.holdfast.spi.LockKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fencing tokens of one lock are unique, and rise in the order of the grants, as far as that order is certain:
 *
 * <ul>
 *   <li>whoever was handed its lease before another one asked for the lock was granted it earlier; that holds for readers and permits too;
 *   <li>of two that exclude each other, whoever was handed its lease first was granted it first. (If the belief check fails, this may be
 *       wrong too.)
 * </ul>
 *
 * <p>One that goes on with a lease has its token, and begins when the belief in that lease has ended.
 *
 * <p>The order of readers, or of permits, that were granted while both were asked for is not known to those who got them.
 */
public final class TokenCheck implements HistoryCheck {

    private final boolean isExclusive;
    private final boolean readersShare;

    /** For locks whose owners exclude each other. */
    public TokenCheck() {
        this(true, false);
    }

    private TokenCheck(boolean isExclusive, boolean readersShare) {
        this.isExclusive = isExclusive;
        this.readersShare = readersShare;
    }

    /**
     * For histories in which owners may overlap, since an assumption was broken, but tokens must rise all the same: only owners of which one
     * asked after the other had its lease are compared.
     *
     * @return a weaker check
     */
    public static TokenCheck withoutExclusion() {
        return new TokenCheck(false, false);
    }

    /**
     * For Redlock: readers that ask at one time may have one token. One may get it by a write-back, while a master gives it to the other.
     *
     * @return a check that is weaker by that
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

    /** By the most generous owner of a lock. */
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

        /** One that takes as many permits of a semaphore excludes all others. */
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
                        "token", "two have the same token:%n%s".formatted(Quote.of(List.of(same, owner)))));
            }
            if (owner.isSuccessor() && owner.goesOnWith() != owner.token()) {
                found.add(new Violation("token", "one that goes on has another token:%n  %s".formatted(owner)));
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
                // Pairs of which one is exclusive were compared when they were emitted.
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
