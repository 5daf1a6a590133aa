/** A command-line program for operators: it lists locks, shows their holders and waiters, and breaks locks. */
@NullMarked
@CheckReturnValue
package io.holdfast.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
