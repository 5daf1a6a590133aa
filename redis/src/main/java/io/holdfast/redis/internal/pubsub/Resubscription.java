package io.holdfast.redis.internal.pubsub;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * Repeats a subscription at a slow pace, for as long as it is needed. The driver subscribes after a reconnect, and
 * reports no error if the server refuses that.
 */
final class Resubscription {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final BiConsumer<Duration, Runnable> later;
    private final BooleanSupplier isNeeded;
    private final Runnable subscribe;

    /** Set while a task is planned. */
    private final AtomicBoolean isPlanned = new AtomicBoolean();

    /**
     * Nothing is planned.
     *
     * @param later runs a task after a pause
     * @param isNeeded whether a subscription is not in force, and a claim waits for it
     */
    Resubscription(BiConsumer<Duration, Runnable> later, BooleanSupplier isNeeded, Runnable subscribe) {
        this.later = later;
        this.isNeeded = isNeeded;
        this.subscribe = subscribe;
    }

    void plan() {
        if (isPlanned.compareAndSet(false, true)) {
            later.accept(PAUSE, this::repair);
        }
    }

    private void repair() {
        isPlanned.set(false);
        if (isNeeded.getAsBoolean()) {
            subscribe.run();
            plan();
        }
    }
}
