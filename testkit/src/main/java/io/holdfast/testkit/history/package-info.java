/**
 * What happened to locks, as seen by those who used them, and whether that keeps what a lock promises.
 *
 * <p>Processes write down what they do ({@link io.holdfast.testkit.history.HistoryRecorder}); the lines of all of them make a
 * {@link io.holdfast.testkit.history.History}; each {@link io.holdfast.testkit.history.HistoryCheck} is one promise. Nothing here reads a
 * clock: all times come from the caller, in nanoseconds of one monotonic clock that all processes share.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.testkit.history;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
