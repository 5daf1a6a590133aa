/** Which databases there are. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.databases;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
