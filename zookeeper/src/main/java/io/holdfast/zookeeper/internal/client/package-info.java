/**
 * ZooKeeper's asynchronous calls on one session. Each is a {@link io.holdfast.zookeeper.internal.client.Call}. Its {@link
 * io.holdfast.zookeeper.internal.client.Reply} comes on the {@link io.holdfast.zookeeper.internal.client.SerialExecutor} of the back end. Also what
 * users are told when a call fails.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.client;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
