/**
 * The hostile world: real servers and client processes on one machine, while both are killed, frozen, cut off and starved.
 *
 * <p>{@link io.holdfast.proof.hostile.Hostile} is the command. A campaign starts the servers of one back end and some client
 * processes ({@link io.holdfast.proof.hostile.Client}), which use locks by the public API and write down what they see; it injects
 * faults by a plan that a seed decides, heals the world, and checks what was written down.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.proof.hostile;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
