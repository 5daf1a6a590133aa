/**
 * Helper classes for authors of back ends: closing, time limits, labels, printable text, the order of a claim's events,
 * a memory of claims, and the queue of a watch's signals. A back end may use them or not; none of them decides which
 * claim holds a lock.
 *
 * <p>Only {@link io.holdfast.spi.support.ForwardingLockBackend}, {@link io.holdfast.spi.support.Closing} and
 * {@link io.holdfast.spi.support.Printable} are promised. The others may change in a minor version: build a back end
 * that uses them anew for it.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.spi.support;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
