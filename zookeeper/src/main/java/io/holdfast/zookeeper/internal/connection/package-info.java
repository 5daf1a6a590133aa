/**
 * Finds the current session on the borrowed Curator client, watches it, and keeps it valid by a heartbeat. {@link
 * io.holdfast.zookeeper.internal.connection.SessionTracker} notifies {@link io.holdfast.zookeeper.internal.connection.SessionEvents} of
 * connects, disconnects, expiry and watch events.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.zookeeper.internal.connection;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
