/**
 * Connections of Lettuce with the options that the safety rules need. A {@link
 * io.holdfast.redis.internal.connection.CommandLink} leads to one server and lasts; another connection of Lettuce may
 * replace the one on it.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.connection;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
