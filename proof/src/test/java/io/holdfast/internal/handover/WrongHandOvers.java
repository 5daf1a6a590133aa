package io.holdfast.internal.handover;

import io.holdfast.LossReason;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What could have been got wrong in handing over, each with one thing wrong. */
public final class WrongHandOvers {

    private WrongHandOvers() {}

    /** Decides as the product does, or wrongly. */
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

    /** The store is not asked for a block of tokens. */
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

    /** As if the store had granted the lock just now. */
    public static Decisions wholeLease() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            long sinceLook(Turn turn, Waiter owner, long now) {
                return now - owner.lookedAtNanos + lease.toNanos();
            }
        });
    }

    /** The one who took the place gives it up for all. */
    public static Decisions lostPlace() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            boolean isStillWanted(Turn turn, boolean firstHasLeft) {
                return turn.size > 0 && !firstHasLeft;
            }
        });
    }

    /** Those that wait get the rest of the block, although the store has said that the lock is lost. */
    public static Decisions blockAfterALoss() {
        return each((key, lease, bounds) -> new HandOver(key, lease, bounds) {
            @Override
            void lose(Turn turn, @Nullable LossReason told, List<Effect> out) {
                if (turn.size == 0) {
                    super.lose(turn, told, out);
                }
            }
        });
    }

    /** A turn goes on as long as claims of its process come, those that come later too. */
    public static Decisions withoutABound() {
        Bounds none = new Bounds(1 << 20, Long.MAX_VALUE);
        return (bounds, now) -> new HandOvers(
                (key, lease) -> new HandOver(key, lease, none) {
                    @Override
                    Turn turnToJoin(Waiter waiter) {
                        Turn held = holding();
                        return held != null && held.owner != null ? held : super.turnToJoin(waiter);
                    }

                    @Override
                    void reserve(Turn turn, long at, List<Effect> out) {
                        turn.isReserving = true;
                        long floor = turn.token + none.mostHandOvers();
                        out.add(new Effect.Reserve(
                                turn,
                                turn.nextLook(at).withWaiting(Waiting.NONE).withTokenFloor(floor)));
                    }
                },
                now);
    }
}
