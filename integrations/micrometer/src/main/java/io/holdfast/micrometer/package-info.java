/**
 * Connects locks to Micrometer. {@link io.holdfast.micrometer.LockMetrics} listens to a client and keeps its meters; {@link
 * io.holdfast.micrometer.ObservedLocks} makes an observation of each acquisition and each {@code withLock}, with its parent from the
 * Reactor Context. Neither uses the name of a lock as a tag: {@link io.holdfast.micrometer.LockFamilies} maps many names to few families.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.micrometer;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
