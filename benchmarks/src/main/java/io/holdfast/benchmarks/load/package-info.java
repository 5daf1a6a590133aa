/** The load of a measured process: lanes that lock repeatedly, in a fork of JMH or in a worker that stays for all rounds. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.load;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
