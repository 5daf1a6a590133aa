/** How waiters learn of their turn: the listening connection, and the claims that each message wakes. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.push;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
