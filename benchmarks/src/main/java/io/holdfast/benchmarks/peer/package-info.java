/** The ways to lock that are compared, all behind one small interface. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.peer;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
