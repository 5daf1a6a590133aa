/** Turns the errors of drivers into errors of this library. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.error;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
