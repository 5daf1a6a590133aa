/**
 * The soak: clients use locks of one back end for hours at a steady rate, and what they and the servers need of the machine is sampled.
 *
 * <p>{@link io.holdfast.proof.soak.Soak} is the command. The judge reads the samples: what grows without a bound is a leak.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.proof.soak;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
