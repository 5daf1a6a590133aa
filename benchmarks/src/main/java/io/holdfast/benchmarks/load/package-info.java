/** What a fork does while it is measured: lanes that lock again and again, here and in a second process. */
@NullMarked
@CheckReturnValue
package io.holdfast.benchmarks.load;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
