/**
 * What is said between client and server about locks: names of keys, what each operation sends and what its answer means, and the messages on
 * a client's channel. No input or output happens here.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.protocol;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
