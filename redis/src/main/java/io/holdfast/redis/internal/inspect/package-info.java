/** How an inspector reads locks and servers: the scan over keys, and the reports that are made of the answers. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
