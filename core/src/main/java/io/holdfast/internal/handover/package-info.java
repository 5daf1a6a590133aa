/**
 * What {@link io.holdfast.LocalHandOver} decides, free of Reactor, clocks and locks: state, event and time in; answer and effects out.
 * {@link io.holdfast.internal.handover.HandOver} is one lock of one process; {@link io.holdfast.internal.handover.HandOvers} finds it.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.handover;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
