/**
 * One lock that many clients want, while all goes well and while it does not: waiters give up, are refused, die or hang. For each
 * trouble {@link io.holdfast.benchmarks.crowd.CrowdedLock} measures the same load beside one without it, in one warm process.
 */
@NullMarked
package io.holdfast.benchmarks.crowd;

import org.jspecify.annotations.NullMarked;
