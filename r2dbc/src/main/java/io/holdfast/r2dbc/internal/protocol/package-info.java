/** The requests to the database, and the meaning of its answers. This package does no I/O. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.protocol;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
