/**
 * What this client knows of each claim: how each master knows it, the round that asks for it, the token that a majority holds.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redlock.internal.claim;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
