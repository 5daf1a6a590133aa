/**
 * The recipe, as pure decisions: the names of a queue's nodes, which of them hold, which wait and for which node, what one session knows without
 * a request, and how many claims may enter. Nothing in here sends a request or knows a thread.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.queue;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
