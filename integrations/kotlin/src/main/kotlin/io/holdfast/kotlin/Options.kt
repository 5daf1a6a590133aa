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
 * @param build sets the options that differ from the defaults
 * @return immutable options
 * @throws IllegalArgumentException if an option is out of range, or two do not fit together
 */
public fun lockOptions(build: LockOptions.Builder.() -> Unit): LockOptions = LockOptions.builder().apply(build).build()

/** Calls [LockOptions.Builder.leaseDuration] with a duration of Kotlin. */
public fun LockOptions.Builder.leaseDuration(lease: Duration): LockOptions.Builder = leaseDuration(lease.toJavaDuration())

/** Calls [LockOptions.Builder.waitTimeout] with a duration of Kotlin. */
public fun LockOptions.Builder.waitTimeout(timeout: Duration): LockOptions.Builder = waitTimeout(timeout.toJavaDuration())

/** Calls [LockOptions.Builder.maxHoldTime] with a duration of Kotlin. */
public fun LockOptions.Builder.maxHoldTime(limit: Duration): LockOptions.Builder = maxHoldTime(limit.toJavaDuration())

/** Calls [LockOptions.Builder.minHoldTime] with a duration of Kotlin. */
public fun LockOptions.Builder.minHoldTime(least: Duration): LockOptions.Builder = minHoldTime(least.toJavaDuration())
