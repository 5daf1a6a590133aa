/**
 * Keeps locks in ZooKeeper, in the session of a clustered Vert.x.
 *
 * <p>{@link io.holdfast.zookeeper.vertx.ZooKeeperVertx} is the only entry point.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.vertx;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
