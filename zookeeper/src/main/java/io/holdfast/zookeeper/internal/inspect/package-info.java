/** Reads the queues of locks for an operator. */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
