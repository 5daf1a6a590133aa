/** Checks of what a user writes as the address of a server. Messages never repeat what may be a password. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.address;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
