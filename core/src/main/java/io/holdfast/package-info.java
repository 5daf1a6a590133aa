/**
 * Distributed locks as values in a reactive pipeline.
 *
 * <p>Start at {@link io.holdfast.LockClient}: it is made over a back end and hands out {@link io.holdfast.ReactiveLock}s, which
 * are stateless names plus {@link io.holdfast.LockOptions}. Acquiring one gives a {@link io.holdfast.LockLease}: what you
 * hold, for how long, with a fencing token, and a signal for the day it is lost. {@link io.holdfast.ReactiveLock#withLock} is
 * the form to prefer: it releases by itself, whatever happens.
 *
 * <p>The interfaces of this package are not for users to implement.
 */
@NullMarked
@CheckReturnValue
package io.holdfast;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
