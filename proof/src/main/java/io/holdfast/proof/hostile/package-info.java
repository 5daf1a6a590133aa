/**
 * The hostile world: real servers and client processes on one machine, while faults kill, freeze, cut off and starve both.
 *
 * <p>{@link io.holdfast.proof.hostile.Hostile} is the command. A campaign starts the servers of one back end and some client
 * processes ({@link io.holdfast.proof.hostile.Client}), which use locks by the public API and note each event in a history. It injects
 * faults by a plan that a seed decides, repairs them, and checks the histories.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.proof.hostile;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
