package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.Vote;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The masters, and the options for requests to them.
 *
 * @param backends an odd number of them
 * @param names of the masters, for votes and messages
 * @param timer of time limits and pauses
 * @param limit how long one master may take; null for a share of the lease
 * @param listener receives each vote; null for none
 * @param random in [0, 1)
 * @param wallClock behind the proposed tokens
 */
public record MasterSettings(
        List<LockBackend> backends,
        List<String> names,
        Scheduler timer,
        @Nullable Duration limit,
        @Nullable Consumer<? super Vote> listener,
        DoubleSupplier random,
        WallClock wallClock) {}
