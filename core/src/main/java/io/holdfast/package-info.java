/**
 * Distributed locks for reactive pipelines.
 *
 * <p>Start at {@link io.holdfast.LockClient}: you make it with a back end, and it returns
 * {@link io.holdfast.ReactiveLock}s, which are stateless names plus {@link io.holdfast.LockOptions}. An acquisition
 * gives a {@link io.holdfast.LockLease}: the lock for a limited time, with a fencing token and a signal for its loss.
 * Prefer {@link io.holdfast.ReactiveLock#withLock}: it releases the lock however the work ends.
 *
 * <p>Users do not implement the interfaces of this package.
 */
@NullMarked
@CheckReturnValue
package io.holdfast;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
