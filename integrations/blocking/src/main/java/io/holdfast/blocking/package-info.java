/** Locks for code that may block: servlets, batch jobs and virtual threads. The work runs on the thread of the caller. */
@NullMarked
@CheckReturnValue
package io.holdfast.blocking;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
