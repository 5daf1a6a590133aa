/** The operations of one back end, put together from the other packages: acquire, renew, release, watch and ping. */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.operation;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
