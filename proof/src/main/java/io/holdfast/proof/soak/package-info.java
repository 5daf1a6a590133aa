/**
 * The soak: clients use locks of one back end for hours at a steady rate. The soak samples the memory and other resources of clients and servers.
 *
 * <p>{@link io.holdfast.proof.soak.Soak} is the command. The judge reads the samples: a figure that grows without a bound is a leak.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.proof.soak;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
