package io.holdfast.internal.tenure;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.function.Consumer;
import reactor.core.publisher.Sinks;

/** An action besides the answer; actions are in order. */
sealed interface Effect {

    /** Signals an event to a claim of this process. Its watch gets its signals in the order of the decisions. */
    record Push(Consumer<WatchSignal> watch, WatchSignal signal) implements Effect {}

    record Watch(Tenure tenure) implements Effect {}

    record Unwatch(Tenure tenure) implements Effect {}

    /** Requests the block of tokens; the answer goes to {@link ClaimTable#reserved}. */
    record Reserve(Tenure tenure, LockClaim claim) implements Effect {}

    /** Releases a claim. No claim waits for the answer; if none arrives, the lease ends by itself. */
    record Release(LockClaim claim) implements Effect {}

    /** The same for a run. */
    record EndRun(Tenure tenure, int served) implements Effect {}

    /** Continues a postponed release. */
    record Resume(Sinks.Empty<Void> release) implements Effect {}
}
