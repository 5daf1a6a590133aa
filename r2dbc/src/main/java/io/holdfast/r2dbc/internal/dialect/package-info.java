/** The SQL of each database, and the meaning of its errors. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.dialect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
