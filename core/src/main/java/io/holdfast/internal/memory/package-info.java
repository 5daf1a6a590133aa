/**
 * The locks of the back end in memory. {@code LockTable} has them by name, and {@code LockQueue} decides about one of
 * them: its holders, its waiters, and its run. No Reactor, no clock, no thread; {@code InMemoryLockBackend} has those.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
