/**
 * The decisions of the engine as pure functions: state, event, time and randomness in; state and action out. Nothing here does
 * I/O, reads a clock or knows Reactor. All times are nanoseconds of the client's monotonic clock, whose origin is arbitrary, so
 * they are compared by subtraction.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.state;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
