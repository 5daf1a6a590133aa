/**
 * When code runs, and on which thread: the one timer of a client or of a back end, the order of events, and the delivery
 * of signals to users. And arithmetic with times: how long a lease is valid, and which answers are absurd. Times are
 * nanoseconds of one clock; only their differences count.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.timing;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
