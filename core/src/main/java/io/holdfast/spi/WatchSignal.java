package io.holdfast.spi;

import io.holdfast.LossReason;
import java.time.Duration;

/** A signal of {@link LockBackend#watch} about one claim. */
public sealed interface WatchSignal {

    /**
     * The watch is active: from now on no change is missed. Sent again after an interruption, since signals may have
     * been lost in between.
     */
    record Armed() implements WatchSignal {}

    /** The state may have changed. The engine sends {@code tryAcquire} while waiting, {@code renew} while holding. */
    record Changed() implements WatchSignal {}

    /**
     * The server has granted the lock to the claim, with a short expiry until a renewal confirms it.
     *
     * <p>A grant names the attempt that it answers, because only the send time of that attempt is a safe start of the
     * validity: {@code validity = send time of attempt number attempt + lease - margin}.
     *
     * @param fencingToken the token of the grant
     * @param attempt the last attempt of the claim that the server had processed at the grant
     * @param lease from the server's time of that attempt to the expiry of the grant
     */
    record Granted(long fencingToken, int attempt, Duration lease) implements WatchSignal {}

    /**
     * The server has granted the lock to a run, and the claim is the first member that is wanted. Otherwise as
     * {@link Granted}.
     *
     * @param run the run
     * @param attempt the last attempt of this claim that the server had processed at the grant
     * @param lease from the server's time of that attempt to the expiry of the grant
     */
    record GrantedRun(LockRun run, int attempt, Duration lease) implements WatchSignal {}

    /**
     * The claim does not hold the lock any more, for a reason that the back end knows. It may overtake the answer that
     * granted the lock: the engine then renews the granted lease at once.
     *
     * @param reason the reason
     */
    record Lost(LossReason reason) implements WatchSignal {}

    /**
     * A run does not have the lock any more. It is for the client of the run, whichever of its claims is watched.
     *
     * @param number {@link LockRun#number()}
     * @param reason the reason
     */
    record LostRun(long number, LossReason reason) implements WatchSignal {}
}
