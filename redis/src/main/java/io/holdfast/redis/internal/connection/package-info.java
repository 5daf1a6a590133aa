/**
 * Connections of Lettuce with the options that the safety rules need. A {@link io.holdfast.redis.internal.connection.CommandLink} is the way to
 * one server and lasts; a connection of Lettuce on it may be replaced by another one.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.connection;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
