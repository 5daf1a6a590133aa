package io.holdfast.internal.memory;

import io.holdfast.spi.WatchSignal;

/**
 * A signal for the watch of one claim.
 *
 * @param claimId whose watch
 * @param signal what to tell it
 */
public record Push(String claimId, WatchSignal signal) {}
