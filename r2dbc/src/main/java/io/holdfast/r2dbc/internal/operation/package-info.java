/** The operations of one back end, built from the other packages. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.operation;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
