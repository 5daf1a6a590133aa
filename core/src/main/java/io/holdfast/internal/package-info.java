/**
 * The engine: the same for every back end. Not API; nothing outside of {@code holdfast-core} uses it.
 *
 * <p>A tour. {@link io.holdfast.internal.ClientBuilder} makes a client around one {@code Engine}, which is what all parts share.
 * {@code AcquireMono} is the operator behind {@code acquire}; each subscription is an {@code Acquisition} with its {@code Emission}, which acts on the
 * decisions of {@link io.holdfast.internal.state.AcquireState}. What it is granted becomes a {@code HeldLease}, which acts on
 * those of {@link io.holdfast.internal.state.LeaseState}, and is handed out as a {@code LeaseHandle}. {@code Guard} is
 * a subscription to {@code withLock}. Many locks that are taken together are a {@code MultiAcquisition} of such acquisitions, by the decisions of
 * {@link io.holdfast.internal.state.MultiAcquireState}. {@code BackendCall} is one operation with a time limit, {@code ReleaseLoop} a release that is
 * repeated until it is answered, {@code Renewals} sends due renewals in batches, and {@code AlarmClock} is the one timer. A {@code Turn}
 * puts users' code behind what the engine has to do. A {@link io.holdfast.internal.DeliveryLine} is for back ends that hand locks over in this
 * JVM.
 *
 * <p>Threads: events come on any thread. The {@code Mailbox} of an acquisition handles them one at a time. A lease has none: each event
 * replaces its state by compare-and-set, and the thread that succeeds carries out the action.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
