/** The operations of a Redlock, each a round of requests to all masters: acquire, renew, release, watch and ping. */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.operation;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
