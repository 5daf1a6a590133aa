/** The workloads as JMH sees them, the servers of a run, and the program that runs all of it. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
