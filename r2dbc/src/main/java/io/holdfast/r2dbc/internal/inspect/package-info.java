/** Inspects the locks, for operators. No lock depends on this package. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
