/**
 * Locks in Redis 6.2 or newer, or Valkey, over a Lettuce client of our own.
 *
 * <p>Start with {@link io.holdfast.redis.RedisLockBackend}. {@link io.holdfast.redis.RedisLockInspector} is for
 * operators. The rules of the protocol are in Lua scripts, one operation each; the packages below {@code
 * io.holdfast.redis.internal} send them and read their answers. Those packages are not API.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
