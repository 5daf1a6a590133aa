/**
 * Histories of locks, as their users saw them, and checks of the promises of a lock.
 *
 * <p>Processes record what they do ({@link io.holdfast.testkit.history.HistoryRecorder}). The lines of all processes
 * make a {@link io.holdfast.testkit.history.History}. Each {@link io.holdfast.testkit.history.HistoryCheck} is one
 * promise. No class of this package reads a clock: the caller gives all times, in nanoseconds of one monotonic clock
 * that all processes share.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.testkit.history;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
