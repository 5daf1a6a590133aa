/**
 * The decisions of the engine as pure functions: state, event, time and randomness go in; state and action come out.
 * The classes of this package do no I/O, read no clock and do not use Reactor. All times are nanoseconds of the
 * client's monotonic clock. Its origin is arbitrary, so times are compared by subtraction.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.state;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
