/** The connections of the back end, and the calls that share one transaction on them. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.lane;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
