package io.holdfast;

import static java.util.Objects.requireNonNull;

/**
 * Receives the events of the locks of one client, for metrics and diagnosis.
 *
 * <p>The client calls it on the thread of the event, often an event loop: it must not block. It should not throw; the
 * client logs an exception and otherwise ignores it. Calls for one acquisition arrive in order, but an
 * {@link LockEvent.AttemptFailed} or {@link LockEvent.RenewalFailed} may follow the end of what it belongs to. Calls for
 * different acquisitions may be concurrent.
 */
@FunctionalInterface
public interface LockListener {

    /**
     * Handles an event.
     *
     * @param event the event
     */
    void onEvent(LockEvent event);

    /**
     * {@return a listener that calls this one and another}
     *
     * @param next called after this listener, even when this one throws
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
