/** How an inspector reads the locks and the servers: the scan over keys, and the reports made of the answers. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.inspect;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
