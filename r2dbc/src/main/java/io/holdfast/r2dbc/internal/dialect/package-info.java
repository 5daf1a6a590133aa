/** What the back end asks of a database. Each kind of database has a room of its own above. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.dialect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
