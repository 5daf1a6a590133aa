/**
 * How waiters learn of their turn: the subscription to this client's channel, and which claim each message wakes.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.pubsub;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
