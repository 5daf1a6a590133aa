package io.holdfast.internal.handover;

import io.holdfast.LossReason;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Mutants of the hand-over, each with one mistake. */
public final class WrongHandOvers {

    private WrongHandOvers() {}

    /** The decisions of the product, or a mutant of them. */
    @FunctionalInterface
    public interface Decisions {
        HandOvers of(Bounds bounds, long now);
    }

    private interface Wrong {
        HandOver of(LockKey key, Duration lease, Bounds bounds);
    }

    private static Decisions each(Wrong wrong) {
        return (bounds, now) -> new HandOvers((key, lease) -> wrong.of(key, lease, bounds), now);
    }

    /** Reserves no block of tokens at the back end. */
    public static Decisions aboveTheCeiling() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            void reserve(Turn turn, long now, List<Effect> out) {}

            @Override
            boolean isAcknowledged(Turn turn, long token) {
                return true;
            }
        });
    }

    /** Counts the lease as if the back end had granted the lock just now. */
    public static Decisions wholeLease() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            long sinceAttempt(Turn turn, Waiter owner, long now) {
                return now - owner.attemptedAtNanos + lease.toNanos();
            }
        });
    }

    /** Gives up the place for all when the claim that took it leaves. */
    public static Decisions lostPlace() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            boolean isStillWanted(boolean firstHasLeft) {
                return super.isStillWanted(firstHasLeft) && !firstHasLeft;
            }
        });
    }

    /** Waiters get the rest of the block, although the back end has answered that the lock is lost. */
    public static Decisions blockAfterALoss() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            void lose(Turn turn, @Nullable LossReason told, List<Effect> out) {
                if (queue.isEmpty()) {
                    super.lose(turn, told, out);
                }
            }
        });
    }

    /** A turn continues as long as claims of its process come. */
    public static Decisions withoutABound() {
        Bounds none = new Bounds(1 << 20, Long.MAX_VALUE);
        return (bounds, now) -> new HandOvers(none, now);
    }

    /** The place of the next turn stays at the back end, although no claim wants it any more. */
    public static Decisions leftPlace() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            void drained(Turn turn, List<Effect> out) {
                var unused = withdrawNext(out);
            }
        });
    }
}
