/**
 * {@code withLock}: runs work while a lease holds, and releases it however the work ends. It knows a lease only as a
 * {@code GuardedLease}, of one lock or of several.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.guard;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
