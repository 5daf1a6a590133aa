/**
 * The back end that keeps its locks in the memory of this JVM: for tests, and for programs of one process. {@code LockTable} has
 * the locks by name, and {@code LockQueue} decides about one of them: its holders, its waiters, and its run.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
