/** Checks the address of a server that a user writes. Messages never repeat what may be a password. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.address;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
