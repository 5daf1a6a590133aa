/**
 * Which session is current: found on the borrowed Curator client, watched, and kept valid by a heartbeat. {@link
 * io.holdfast.zookeeper.internal.connection.SessionTracker} tells {@link io.holdfast.zookeeper.internal.connection.SessionEvents} of connects,
 * disconnects, expiry and watch events.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.connection;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
