/** A command-line program for operators: it lists locks, shows their holders and waiters, breaks locks, and checks servers. */
@NullMarked
@CheckReturnValue
package io.holdfast.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
