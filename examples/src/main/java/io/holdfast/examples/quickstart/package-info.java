/** The code of the README, compiled; a test compares the two and runs it. */
@NullMarked
@CheckReturnValue
package io.holdfast.examples.quickstart;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
