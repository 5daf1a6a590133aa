/**
 * The engine, the same for every back end. Not API; no code outside of {@code holdfast-core} uses it.
 *
 * <p>A tour. {@link io.holdfast.internal.ClientBuilder} makes a client around one {@code Engine}, which all parts
 * share. {@code AcquireMono} is the operator behind {@code acquire}; each subscription is an {@code Acquisition} with
 * its {@code Emission}, which acts on the decisions of {@link io.holdfast.internal.state.AcquireState}. A grant becomes
 * a {@code HeldLease}, which acts on the decisions of {@link io.holdfast.internal.state.LeaseState}, and is handed out
 * as a {@code LeaseHandle}. {@code Guard} is a subscription to {@code withLock}. A {@code MultiAcquisition} takes many
 * locks together: it consists of such acquisitions, and acts on the decisions of
 * {@link io.holdfast.internal.state.MultiAcquireState}. {@code BackendCall} is one operation with a time limit.
 * {@code ReleaseLoop} repeats a release until it is answered. {@code Renewals} sends due renewals in batches, and
 * {@code AlarmClock} is the one timer. A {@code Turn} runs users' code after the engine's own work. A
 * {@link io.holdfast.internal.DeliveryLine} is for back ends that hand locks over in this JVM.
 *
 * <p>Threads: events arrive on any thread. The {@code Mailbox} of an acquisition handles them one at a time. A lease
 * has no mailbox: each event replaces its state by compare-and-set, and the thread that succeeds carries out the
 * action.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
