/**
 * Tools to test locks: the contract of a back end as a JUnit suite ({@link io.holdfast.testkit.LockBackendContract}), a
 * back end that fails on demand ({@link io.holdfast.testkit.FaultyLockBackend}), a critical section that detects two
 * owners at once ({@link io.holdfast.testkit.ExclusionProbe}), and rules about the code itself
 * ({@link io.holdfast.testkit.ArchitectureRules}). Only {@code LockBackendContract} and
 * {@link io.holdfast.testkit.LockBackendUnderTest} are promised; the others may change in a minor version.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.testkit;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
