/**
 * One request as a {@link reactor.core.publisher.Mono}: finds its server, sends when there is demand, follows
 * redirections, and withdraws the command at a cancellation.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.call;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
