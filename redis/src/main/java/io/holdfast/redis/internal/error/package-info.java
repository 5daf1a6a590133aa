/**
 * Turns the errors of the driver and of servers into exceptions of this library: what failed, at which server, whether
 * it can pass, and what to do.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.error;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
