/** Which server has a key: one master, the master behind sentinels, or the masters of a cluster, with redirections and failover. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.topology;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
