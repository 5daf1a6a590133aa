/**
 * Locks in Redis 6.2 or newer, or Valkey, over a Lettuce client of our own.
 *
 * <p>{@link io.holdfast.redis.RedisLockBackend} is the whole public API. The rules of the protocol are in the Lua scripts
 * next to this package's classes, one operation each; what is here sends them and reads their answers.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
