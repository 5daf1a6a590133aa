/**
 * ZooKeeper's asynchronous calls on one session. Each call is a {@link io.holdfast.zookeeper.internal.client.Call}. It emits its {@link
 * io.holdfast.zookeeper.internal.client.Reply} on the {@link io.holdfast.zookeeper.internal.client.SerialExecutor} of the back end. The
 * package also has the messages of failed calls.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.client;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
