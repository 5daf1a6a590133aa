/** The operations of one back end, put together. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.operation;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
