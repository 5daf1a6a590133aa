/** How an inspector reads locks and servers: the scan over keys, and the reports on locks and servers. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
