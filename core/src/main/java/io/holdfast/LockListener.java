package io.holdfast;

import static java.util.Objects.requireNonNull;

/**
 * Told of what happens to the locks of one client, for metrics and diagnosis.
 *
 * <p>Called on the thread on which it happened, often an event loop: it must not block. It should not throw; what it throws is
 * logged and otherwise ignored. Calls for one acquisition come in order, those of different acquisitions concurrently.
 */
@FunctionalInterface
public interface LockListener {

    /**
     * Something happened.
     *
     * @param event what
     */
    void onEvent(LockEvent event);

    /**
     * Tells two listeners.
     *
     * @param next told after this one, also when this one throws
     * @return a listener that tells both
     */
    default LockListener andThen(LockListener next) {
        requireNonNull(next, "next");
        return event -> {
            try {
                onEvent(event);
            } finally {
                next.onEvent(event);
            }
        };
    }
}
