/**
 * What all claims of one client share: the back end, the options, the list of what is under way with its close and its
 * drain ({@code Engine}, {@code Activities}), the renewals that are sent together, and the events. A {@code BackendCall} is
 * one operation with its time limit. Nothing here knows how a claim waits, holds or ends, or when it renews: claims are
 * {@code Activity}s and {@code Renewable}s.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.engine;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
