/** The programs and lines of the README and of docs/start, compiled; tests compare them and run them. */
@NullMarked
@CheckReturnValue
package io.holdfast.examples.quickstart;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
