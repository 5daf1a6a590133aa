/**
 * Locks held by a majority of independent masters: the Redlock algorithm, with fencing tokens.
 *
 * <p>{@link io.holdfast.redlock.RedlockBackend} is the back end; {@link io.holdfast.redlock.Vote} shows how the masters voted. What
 * decides is free of Reactor, clocks and chance: {@code Tally} (who has a majority), {@code Election} (who holds which token),
 * {@code TokenFloor} (what to propose), {@code Pauses} (how long to keep away). What sends and waits is around it.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
