/** What is asked of the database, and what its answers mean. Nothing here does any I/O. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.protocol;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
