package io.holdfast.kotlin

import io.holdfast.LockOptions
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * Builds options.
 *
 * ```
 * val patient = lockOptions { waitTimeout(5.seconds) }
 * ```
 *
 * @param build sets what is not to be a default
 * @return immutable options
 * @throws IllegalArgumentException if an option is out of range, or two do not fit
 */
public fun lockOptions(build: LockOptions.Builder.() -> Unit): LockOptions = LockOptions.builder().apply(build).build()

/** [LockOptions.Builder.leaseDuration] of Kotlin's duration. */
public fun LockOptions.Builder.leaseDuration(lease: Duration): LockOptions.Builder = leaseDuration(lease.toJavaDuration())

/** [LockOptions.Builder.waitTimeout] of Kotlin's duration. */
public fun LockOptions.Builder.waitTimeout(timeout: Duration): LockOptions.Builder = waitTimeout(timeout.toJavaDuration())

/** [LockOptions.Builder.maxHoldTime] of Kotlin's duration. */
public fun LockOptions.Builder.maxHoldTime(limit: Duration): LockOptions.Builder = maxHoldTime(limit.toJavaDuration())

/** [LockOptions.Builder.minHoldTime] of Kotlin's duration. */
public fun LockOptions.Builder.minHoldTime(least: Duration): LockOptions.Builder = minHoldTime(least.toJavaDuration())
