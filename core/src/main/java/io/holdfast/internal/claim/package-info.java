/**
 * One claim, from the moment when it is made to its release. A subscription has one claim; only if the grant was over
 * when it arrived, another claim follows. {@code Claim} acts on what {@code AcquireState} (waiting) and
 * {@code LeaseState} (holding) decide, both pure; how it decides, and what it does while it holds, is in its superclass
 * {@code HeldClaim}. {@code RenewalSchedule} says when to renew, {@code ReleaseLoop} repeats a release until it is
 * answered, {@code Emission} is the subscription, and {@code LeaseHandle} is what the user holds.
 * {@code Successor} is the export or the downgrade of a lease, {@code Adoption} the import of an exported one, and
 * {@code NestedLease} a lease of a pipeline that holds the lock already ({@code HeldLocks}). Events arrive on any thread.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal.claim;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
