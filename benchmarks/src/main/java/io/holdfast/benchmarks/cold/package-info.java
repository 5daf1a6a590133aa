/** The first lock of a JVM. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.cold;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
