/**
 * Keeps locks in ZooKeeper, in the session of a Curator client that you own.
 *
 * <p>{@link io.holdfast.zookeeper.ZooKeeperLockBackend} is the only entry point.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
