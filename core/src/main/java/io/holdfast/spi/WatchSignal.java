package io.holdfast.spi;

import io.holdfast.LossReason;
import java.time.Duration;

/** A signal of {@link LockBackend#watch} about one claim. */
public sealed interface WatchSignal {

    /**
     * Watching is in force from now on: no change after this is missed. Sent again after an interruption, since something
     * may have been missed in between.
     */
    record Armed() implements WatchSignal {}

    /** Look again: with {@code tryAcquire} while waiting, with {@code renew} while holding. */
    record Changed() implements WatchSignal {}

    /**
     * The store has made the claim the holder, with an expiry that is short until it is confirmed by a renewal.
     *
     * <p>A grant names the attempt it answers, because only the send time of that very look is a safe start of the validity:
     * {@code validity = send time of attempt number attempt + lease - margin}.
     *
     * @param fencingToken the token of the grant
     * @param attempt the claim's last attempt that the store had processed when it granted
     * @param lease from the store's time of that attempt to the expiry of the grant
     */
    record Granted(long fencingToken, int attempt, Duration lease) implements WatchSignal {}

    /**
     * The claim does not hold the lock any more, for a reason the back end knows. It may overtake the answer that granted the lock:
     * what that answer brings is then renewed at once.
     *
     * @param reason the reason
     */
    record Lost(LossReason reason) implements WatchSignal {}
}
