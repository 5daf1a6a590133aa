/** Real servers for tests and demos, started and stopped with the code that uses them. Nothing here needs a test framework. */
@NullMarked
@CheckReturnValue
package io.holdfast.testkit.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
