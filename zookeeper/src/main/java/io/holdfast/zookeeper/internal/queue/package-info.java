/**
 * The lock recipe as pure decisions: the names of the nodes, which nodes hold, which node each waiter waits for, what one session knows
 * without a request, and how many claims may enter. No class in this package sends a request or uses a thread.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.queue;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
