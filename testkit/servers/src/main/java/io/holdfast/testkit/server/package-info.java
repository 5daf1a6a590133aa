/**
 * Real servers for tests and demos, started and stopped by the code that uses them. This package needs no test
 * framework.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.testkit.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
