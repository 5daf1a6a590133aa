/**
 * One claim, from the subscription to the release. The states decide, and are pure; the other classes act on their
 * decisions. Events arrive on any thread. Nothing here knows of {@code withLock}, or of several locks.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.claim;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
