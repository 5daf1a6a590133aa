/**
 * Locks in ZooKeeper, on the session of a Curator client that is yours.
 *
 * <p>{@link io.holdfast.zookeeper.ZooKeeperLockBackend} is all there is to use.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
