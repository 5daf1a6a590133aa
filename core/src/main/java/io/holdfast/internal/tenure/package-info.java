/**
 * A tenure: the time in which one client of a back end owns a lock there, and serves its own claims in order, each with
 * a token of its own. {@link io.holdfast.internal.tenure.Tenure} is the hold at the back end.
 * {@link io.holdfast.internal.tenure.TenureRules} are the rules of one lock, without Reactor, clocks or locks: state,
 * event and time go in; answers and effects come out. {@link io.holdfast.internal.tenure.ClaimTable} finds them by
 * claim, and {@link io.holdfast.internal.tenure.TenureBackend} carries out what they decide.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.tenure;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
