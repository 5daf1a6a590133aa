/**
 * The interface of a back end: operations on a claim.
 *
 * <p>A back end implements {@link io.holdfast.spi.LockBackend}. It takes and
 * confirms a lock ({@code tryAcquire}), renews, releases, and may signal changes ({@code watch}); the other methods have
 * defaults. A {@link io.holdfast.spi.LockClaim} is the identity of what an acquisition wants of the back end. Every operation is idempotent per claim, so the engine may send it again after
 * an unknown outcome, and {@code release} repairs every such outcome. Answers are values
 * ({@link io.holdfast.spi.LockAttempt}, {@link io.holdfast.spi.Renewal}, {@link io.holdfast.spi.Ownership}). A failure
 * is a {@link io.holdfast.LockBackendException} and means <em>unknown</em>, never no; the exception is
 * {@link io.holdfast.LockBackendException#notYet}, which had no effect.
 *
 * <p>The engine waits, repeats, renews, detects losses, withdraws and nests leases, in the same way for every back end.
 *
 * <p>{@code docs/contribute/spi.md} in the repository tells authors of back ends all of it on one page, with a complete
 * example. {@code LockBackendContract} in {@code holdfast-testkit} tests it.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.spi;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
