/**
 * What each claim of the back end has in ZooKeeper, and what happens to it when a watch fires, the connection is lost, or the session ends.
 * {@link io.holdfast.zookeeper.internal.claim.LockQueues} requests what the first waiter must know, and grants the lock.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.claim;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
