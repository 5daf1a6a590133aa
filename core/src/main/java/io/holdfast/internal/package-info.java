/**
 * What is behind the API, the same for every back end. Not API; no code outside of {@code holdfast-core} uses it.
 *
 * <p>Its rooms, from top to bottom; each uses only those below it:
 *
 * <ul>
 * <li>{@code client}: the client, and the locks that it makes
 * <li>{@code guard}: {@code withLock}; beside it {@code multi}: several locks that are taken together
 * <li>{@code claim}: one claim, from the subscription to the release
 * <li>{@code engine}: what all claims of one client share; beside it {@code tenure}: a lock that goes from claim to
 *     claim inside one process; and {@code memory}: the locks of the back end in memory
 * <li>{@code timing}: when code runs, and on which thread
 * </ul>
 *
 * <p>Doors: the builder of the API makes the engine and the client, with {@code tenure}'s {@code StoreFedBackend} in front
 * of a back end that grants runs; {@code LocalHandOver} makes a back end in {@code tenure}. The back
 * end in {@code io.holdfast.memory} uses {@code memory} and {@code timing}, and the tools in
 * {@code io.holdfast.spi.support} use {@code timing}, and {@code claim} for a Reactor Context with leases.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.internal;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
