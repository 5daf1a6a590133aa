/**
 * Tests of code that uses locks, without a server: {@link io.holdfast.test.TestLocks} is a JUnit extension with a lock
 * client in virtual time. A {@link io.holdfast.test.Rival} holds a lock like another process. The test can end or
 * freeze a {@link io.holdfast.test.Hold} of the code under test. A lock that is still held or waited for at the end
 * fails the test.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.test;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
