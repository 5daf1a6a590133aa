/**
 * What a back end implements: four operations on a claim, nothing else.
 *
 * <p>{@link io.holdfast.spi.LockBackend} is the interface. A {@link io.holdfast.spi.LockClaim} is one acquisition's
 * identity towards the store; every operation is idempotent per claim, so any of them may be sent again after an unknown
 * outcome, and {@code release} repairs every such outcome. Answers are values ({@link io.holdfast.spi.LockAttempt},
 * {@link io.holdfast.spi.Renewal}, {@link io.holdfast.spi.Ownership}); a failure is a
 * {@link io.holdfast.LockBackendException} and always means <em>unknown</em>, never no.
 *
 * <p>Waiting, retries, renewal, loss, withdrawal and re-entrancy belong to the engine and are the same for every back end.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.spi;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
