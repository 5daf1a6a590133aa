/**
 * The state of each claim at this client: how each master knows it, its present round, the token that a majority holds.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.claim;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
