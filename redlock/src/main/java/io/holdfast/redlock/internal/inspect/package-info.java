/** What the masters know of a lock, put together for operators. */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
