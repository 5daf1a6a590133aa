/**
 * When code runs, and on which thread: the one timer of a client or of a back end, the order of events, and the delivery
 * of signals to users. Times are nanoseconds of one clock; only their differences count. Nothing here knows what a lock
 * is.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.run;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
