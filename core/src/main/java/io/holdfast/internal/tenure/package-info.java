/**
 * A tenure: the time in which one client owns a lock at the back end, and serves its own claims in order, each with a
 * token of its own. {@code TenureRules} are what both sources need: {@code ClientFed} has a queue of its own (the back
 * end that {@code LocalHandOver} makes; its API calls a tenure a turn), and {@code StoreFed} serves a run of the back
 * end, the members that the back end names. The back end also says how many they are. These decide: state, event and time go in; answers and effects come out.
 * {@code ClaimTable} and {@code RunTable} find them, {@code TenureBackend} and {@code StoreFedBackend} act.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.tenure;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
