/**
 * The decisions: which votes make a majority, which claim holds which token, what floor to propose, how long a lease is valid,
 * how long to pause. Free of Reactor, clocks, threads and chance: times and random numbers are arguments.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.quorum;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
