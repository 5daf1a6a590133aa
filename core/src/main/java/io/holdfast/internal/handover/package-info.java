/**
 * The decisions of {@link io.holdfast.LocalHandOver}, without Reactor, clocks or locks: state, event and time go in;
 * answers and effects come out. {@link io.holdfast.internal.handover.HandOver} is one lock of one process;
 * {@link io.holdfast.internal.handover.HandOvers} finds it.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.handover;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
