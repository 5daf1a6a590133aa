/** PostgreSQL: its statements, its fence, its notifications, and the meaning of its errors. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.postgresql;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
