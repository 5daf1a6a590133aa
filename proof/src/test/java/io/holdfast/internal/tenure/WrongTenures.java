package io.holdfast.internal.tenure;

import io.holdfast.LossReason;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Mutants of the hand-over, each with one mistake. */
public final class WrongTenures {

    private WrongTenures() {}

    /** The decisions of the product, or a mutant of them. */
    @FunctionalInterface
    public interface Decisions {
        ClaimTable of(Bounds bounds, long now);
    }

    public static Decisions none() {
        return ClaimTable::new;
    }

    private interface Wrong {
        ClientFed of(LockKey key, Duration lease, Bounds bounds);
    }

    private static Decisions each(Wrong wrong) {
        return (bounds, now) -> new ClaimTable((key, lease) -> wrong.of(key, lease, bounds), now);
    }

    /** Reserves no block of tokens at the back end. */
    public static Decisions aboveTheCeiling() {
        return each((key, lease, bounds) -> new ClientFed(key, lease, bounds) {
            @Override
            void reserve(Tenure tenure, Moment at) {}

            @Override
            boolean hasNextToken(Tenure tenure) {
                return true;
            }
        });
    }

    /** Counts the lease as if the back end had granted the lock just now. */
    public static Decisions wholeLease() {
        return each((key, lease, bounds) -> new ClientFed(key, lease, bounds) {
            @Override
            long leaseFor(Tenure tenure, LocalClaim owner, long now) {
                return now - owner.attemptedAtNanos + lease.toNanos();
            }
        });
    }

    /** Gives up the place for all when the claim that took it leaves. */
    public static Decisions lostPlace() {
        return each((key, lease, bounds) -> new ClientFed(key, lease, bounds) {
            @Override
            boolean keepsPlace(boolean firstHasLeft) {
                return super.keepsPlace(firstHasLeft) && !firstHasLeft;
            }
        });
    }

    /** Waiters get the rest of the block, although the back end has answered that the lock is lost. */
    public static Decisions blockAfterALoss() {
        return each((key, lease, bounds) -> new ClientFed(key, lease, bounds) {
            @Override
            void lose(Tenure tenure, @Nullable LossReason told, Moment at) {
                if (line.isEmpty()) {
                    super.lose(tenure, told, at);
                }
            }
        });
    }

    /** A turn continues as long as claims of its process come. */
    public static Decisions withoutABound() {
        Bounds none = new Bounds(1 << 20, Long.MAX_VALUE);
        return (bounds, now) -> new ClaimTable(none, now);
    }

    /** The place of the next turn stays at the back end, although no claim wants it any more. */
    public static Decisions leftPlace() {
        return each((key, lease, bounds) -> new ClientFed(key, lease, bounds) {
            @Override
            void drained(Tenure tenure, Moment at) {
                var unused = withdrawNext(at);
            }
        });
    }
}
