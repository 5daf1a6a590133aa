package io.holdfast.memory;

import io.holdfast.spi.WatchSignal;

/**
 * A signal for the watch of one claim.
 *
 * @param claimId the claim
 * @param signal the signal
 */
public record Push(String claimId, WatchSignal signal) {}
