/**
 * The flash sale: three shops, each a JVM of its own, sell one stock that only a lock protects.
 *
 * <p>{@link io.holdfast.examples.flashsale.Checkout} is the part to copy from: it takes the lock, works and releases.
 * {@link io.holdfast.examples.flashsale.Shop} runs it for a stream of buyers;
 * {@link io.holdfast.examples.flashsale.Coordinator} starts the shops, kills one, and counts.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.examples.flashsale;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
