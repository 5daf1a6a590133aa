/**
 * What each claim of the back end has in ZooKeeper, and what becomes of it when a watch fires, when the connection is lost, or when the session
 * ends. {@link io.holdfast.zookeeper.internal.claim.LockQueues} asks for what the first waiter has to know, and grants.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.claim;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
