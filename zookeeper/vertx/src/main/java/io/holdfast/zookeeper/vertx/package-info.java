/**
 * Locks in ZooKeeper, on the session of a clustered Vert.x.
 *
 * <p>{@link io.holdfast.zookeeper.vertx.ZooKeeperVertx} is all there is to use.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.vertx;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
