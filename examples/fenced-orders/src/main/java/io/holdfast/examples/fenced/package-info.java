/** An order service whose stock and locks are in one PostgreSQL: a holder that paused for longer than its lease sells nothing. */
@NullMarked
@CheckReturnValue
package io.holdfast.examples.fenced;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
