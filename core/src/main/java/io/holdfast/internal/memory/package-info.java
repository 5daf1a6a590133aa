/**
 * What the in-memory back end decides, free of Reactor, clocks and randomness: state, request and server time in; answer and
 * signals to push out. Every back end with a queue in its server follows the same rules, so
 * {@link io.holdfast.internal.memory.LockQueue} is also their readable specification.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
