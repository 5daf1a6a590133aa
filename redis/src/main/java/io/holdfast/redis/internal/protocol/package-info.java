/**
 * The protocol between client and server: names of keys, what each operation sends, what its answer means, and the
 * messages on a client's channel. This package does no input or output.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.protocol;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
