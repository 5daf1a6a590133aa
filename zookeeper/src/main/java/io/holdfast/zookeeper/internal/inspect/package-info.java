/** How an operator sees the queues of locks. */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
