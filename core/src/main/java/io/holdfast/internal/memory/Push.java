package io.holdfast.internal.memory;

import io.holdfast.spi.WatchSignal;

/** A signal for the watches of one claim. */
public record Push(String claimId, WatchSignal signal) {}
