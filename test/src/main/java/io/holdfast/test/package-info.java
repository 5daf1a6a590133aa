/**
 * Tests of code that uses locks, without a server: {@link io.holdfast.test.TestLocks} is a JUnit extension with a lock client in virtual
 * time. A {@link io.holdfast.test.Rival} holds a lock as another process would, a {@link io.holdfast.test.Hold} of the code under test can be lost or
 * frozen, and a lock that is still held or waited for at the end fails the test.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.test;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
