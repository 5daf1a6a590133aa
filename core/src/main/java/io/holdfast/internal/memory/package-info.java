/**
 * The decisions of the in-memory back end, without Reactor, clocks or randomness: state, request and server time go in;
 * answers and signals come out. Every back end with a queue on its server follows the same rules, so
 * {@link io.holdfast.internal.memory.LockQueue} is also their readable specification.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
