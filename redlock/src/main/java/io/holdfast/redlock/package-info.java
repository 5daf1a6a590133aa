/**
 * Locks at a majority of independent masters: the Redlock algorithm, with fencing tokens.
 *
 * <p>{@link io.holdfast.redlock.RedlockBackend} is the back end; {@link io.holdfast.redlock.Vote} shows how the masters
 * voted. The packages below {@code io.holdfast.redlock.internal} send the requests to the masters and count their
 * votes. Those packages are not API.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
