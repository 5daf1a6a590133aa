/**
 * Locks as Micrometer sees them. {@link io.holdfast.micrometer.LockMetrics} listens to a client and keeps its meters;
 * {@link io.holdfast.micrometer.ObservedLocks} makes an observation of each acquisition and each {@code withLock}, with its parent
 * from the Reactor Context. Neither ever uses the name of a lock as a tag: {@link io.holdfast.micrometer.LockFamilies} makes few
 * families of many names.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.micrometer;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
