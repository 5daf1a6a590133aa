/**
 * The options of the builder beyond plain locking: grants confirmed by replicas, the quarantine after a restart, losses
 * signalled by {@code CLIENT TRACKING}, and the check of the eviction policy.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.safety;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
